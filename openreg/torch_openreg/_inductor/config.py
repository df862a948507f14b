# What the key of Inductor's cache contains of this backend; see
# docs/modules/compile-wrapper.md.
"""A config module of torch: the cache keeps graphs of other values apart."""

import hashlib
import pathlib
import sys

from torch.utils import _config_module


# LITERALINCLUDE START: INDUCTOR_VERSION
def digest_of_sources() -> str:
    """Return a digest of all that decides on the machine code of a kernel.

    These are the code generator, and the headers that generated code includes.
    """
    digest, here = hashlib.sha256(), pathlib.Path(__file__).parent
    headers = here.parent.joinpath("include").rglob("*.h")
    for source in (*sorted(here.glob("*.py")), *sorted(headers)):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


codegen_version: str = digest_of_sources()
# LITERALINCLUDE END: INDUCTOR_VERSION
_config_module.install_config_module(sys.modules[__name__])
