# Reads the operators of torch and where each has a kernel; see docs/ship/upgrading.md.
"""``native_functions.yaml`` is part of every wheel of torch, beside the package."""

import re

Found = dict[str, str]

ITEM = re.compile(r"^- func: (.+)$", re.MULTILINE)
KEYS = re.compile(r"^ {4}([\w, ]+):", re.MULTILINE)


def operators(text: str) -> Found:
    """Return the schema of each overload, and whether a backend has to implement it."""
    starts = [*ITEM.finditer(text)]
    ends = [*(start.start() for start in starts[1:]), len(text)]
    found: Found = {}
    for start, end in zip(starts, ends, strict=True):
        schema = start[1].strip()
        name = schema.partition("(")[0]
        found[name] = f"{schema[len(name) :]}  [{_route(text[start.end() : end])}]"
    return found


def _route(item: str) -> str:
    """Say who has the kernel for a device that torch does not ship."""
    if re.search(r"^  structured_delegate:", item, re.MULTILINE):
        return "calls its out form"
    dispatch = re.search(
        r"^  dispatch:(.*?)(?=^  \w|\Z)", item, re.MULTILINE | re.DOTALL
    )
    if dispatch is None:
        return "composite"
    keys = {
        key.strip() for line in KEYS.findall(dispatch[1]) for key in line.split(",")
    }
    if any(key.startswith("Composite") for key in keys):
        return "composite"
    return "needs your kernel"
