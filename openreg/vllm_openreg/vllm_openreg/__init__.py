# The entry point that vLLM calls to find a platform; see docs/frontend/serving.md.
"""A vLLM platform that runs models on the openreg device."""


def register() -> str:
    """Return the name of the class that describes the device."""
    return "vllm_openreg.platform.OpenRegPlatform"
