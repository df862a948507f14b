# Tests any PyTorch backend, level by level; see docs/ship/conformance.md.
"""``python -m torch_conformance --device acme [--level 0..5]``.

The package imports no backend: it must not claim PrivateUse1, which is the name of the
device under test. Each case runs in a separate process, forked before any backend is
loaded, so a crash or a deadlock costs one case.
"""

from torch_conformance._command import main
from torch_conformance._outcome import Result
from torch_conformance._report import Report, compare, read, show
from torch_conformance._runner import run

__all__ = ["Report", "Result", "compare", "main", "read", "run", "show"]
