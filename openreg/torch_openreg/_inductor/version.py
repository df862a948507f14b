# The version of the code generator; see docs/modules/compile-wrapper.md.
"""Compiled graphs outlive the process in a cache, and must not outlive their maker."""

import hashlib
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


# LITERALINCLUDE START: INDUCTOR_VERSION
def digest_of_sources() -> str:
    """Return a digest of all that decides on the machine code of a kernel.

    These are the code generator, and the headers that generated code includes.
    """
    digest = hashlib.sha256()
    generator = sorted(Path(__file__).parent.glob("*.py"))
    headers = sorted((PACKAGE / "include").rglob("*.h"))
    for source in (*generator, *headers):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


# LITERALINCLUDE END: INDUCTOR_VERSION
