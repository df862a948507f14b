# Refuses a build for another torch version; see docs/frontend/autoload.md.
"""A check that runs before the shared objects are loaded.

PyTorch promises no binary compatibility between minor releases. A build for another one
fails with an undefined symbol at best, so importing it raises an error.
"""

import torch_openreg
from torch_openreg import _glue


# VENDOR: one build for each minor release of torch; no stable ABI has guard or hooks
# LITERALINCLUDE START: VERSION_GUARD
def check(running: str, built: str | None = None) -> None:
    """Raise ImportError unless both versions have the same major and minor number.

    Args:
        running: version of the torch that is imported, such as ``"2.13.0+cpu"``.
        built: version of the torch against which this package was compiled; by
            default, that of the objects that would be loaded.
    """
    built = built or _built_for(running)
    if running.split(".")[:2] != built.split(".")[:2]:
        raise ImportError(
            f"torch_openreg was built for torch {built}, but torch {running} is "
            f"imported. Install torch {built.split('+')[0]}, or rebuild torch_openreg: "
            f"pip install --no-build-isolation --force-reinstall --no-deps ."
        )


# LITERALINCLUDE END: VERSION_GUARD
def _built_for(running: str) -> str:
    _glue.choose(running, torch_openreg.__path__)
    from torch_openreg._build_info import TORCH_VERSION

    return TORCH_VERSION
