# A platform of vLLM, found by an entry point; see docs/frontend/training-libraries.md.
from vllm.platforms.interface import Platform, PlatformEnum


def register() -> str:  # the entry point of the group vllm.platform_plugins
    return "vllm_platform.OpenRegPlatform"


class OpenRegPlatform(Platform):
    _enum = PlatformEnum.OOT
    device_name = device_type = "openreg"
    dispatch_key = "PrivateUse1"
    dist_backend = "occl"
