# The entry point that vLLM calls to find a platform; see docs/frontend/serving.md.
"""A platform of vLLM that serves models on the openreg device."""


def register() -> str:
    """Return the name of the class that describes the device."""
    return "vllm_openreg.platform.OpenRegPlatform"
