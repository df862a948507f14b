# Refuses a build for another torch version; see docs/frontend/autoload.md.
"""A check that runs before the shared objects are loaded.

PyTorch promises no binary compatibility between minor releases. A build for another one
fails with an undefined symbol at best, so importing it raises an error.
"""

from torch_openreg._build_info import TORCH_VERSION


# VENDOR: one build for each minor release of torch, or the stable ABI
# LITERALINCLUDE START: VERSION_GUARD
def check(running: str, built: str = TORCH_VERSION) -> None:
    """Raise ImportError unless both versions have the same major and minor number.

    Args:
        running: version of the torch that is imported, such as ``"2.13.0+cpu"``.
        built: version of the torch against which this package was compiled.
    """
    if running.split(".")[:2] != built.split(".")[:2]:
        raise ImportError(
            f"torch_openreg was built for torch {built}, but torch {running} is "
            f"imported. Install torch {built.split('+')[0]}, or rebuild torch_openreg: "
            f"pip install --no-build-isolation --force-reinstall --no-deps ."
        )


# LITERALINCLUDE END: VERSION_GUARD
