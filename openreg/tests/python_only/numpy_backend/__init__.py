# A device of NumPy arrays, without C++; see docs/frontend/python-only.md.
"""Backend ``npy``: import it, or let ``import torch`` find it by its entry point."""


# LITERALINCLUDE START: NUMPY_PACKAGE
def _autoload() -> None:
    """Called by ``import torch``; importing this module has done the work."""


from torch.utils import backend_registration

from . import module

backend_registration._setup_privateuseone_for_python_backend(  # (1)
    rename="npy",
    backend_module=module,
)

from . import kernels  # (2)

# LITERALINCLUDE END: NUMPY_PACKAGE
