# What the key of Inductor's cache contains of this backend; see
# docs/modules/compile-wrapper.md.
"""A config module of torch, whose values are part of the cache key."""

import hashlib
import importlib.metadata
import importlib.util
import os
import pathlib
import sys

from torch.utils import _config_module

# What generates the kernels: "loops", which is C++, or "triton". After a change, call
# torch_openreg._inductor.register().
backend: str = os.environ.get("OPENREG_INDUCTOR", "loops")


# LITERALINCLUDE START: INDUCTOR_VERSION
def digest_of_sources() -> str:
    """Return a digest of all that decides on the machine code of a kernel.

    These are the code generator, the headers that generated code includes, and the
    compiler of Triton kernels, if it is installed.
    """
    digest, here = hashlib.sha256(), pathlib.Path(__file__).parent
    headers = here.parent.joinpath("include").rglob("*.h")
    sources = [*sorted(here.glob("*.py")), *sorted(headers)]
    try:
        digest.update(importlib.metadata.version("triton").encode())
        compiler = importlib.util.find_spec("triton_openreg")
    except importlib.metadata.PackageNotFoundError:
        compiler = None
    if compiler is not None:
        for folder in compiler.submodule_search_locations or ():
            sources += sorted(pathlib.Path(folder).rglob("*.[pch]*"))
    for source in sources:
        if source.suffix in (".py", ".c", ".h"):
            digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


codegen_version: str = digest_of_sources()
# LITERALINCLUDE END: INDUCTOR_VERSION
_config_module.install_config_module(sys.modules[__name__])
