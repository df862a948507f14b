# Writes docs/reference/device-module-table.md; see docs/frontend/device-module.md.
"""Makes the page out of what torch looks up, and of why; run it to write the page.

python openreg/tests/module_table.py
"""

from pathlib import Path

import torch
from module_lookups import Lookups
from module_rows import ABSENT, BY_CPP, PRESENT, Row

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/device-module-table.md"
HEAD = """\
# What torch looks up on the device module

Every attribute that torch {version} asks of `torch.<name>`, the module of a device:
what for, what happens without it, and who asks. [The device
module](../frontend/device-module.md) tells how torch gets hold of that module.

`openreg/tests/module_lookups.py` reads torch's Python sources and collects the lookups;
C++ adds {cpp}. A test compares them with this page, so that
another torch cannot ask for more unnoticed. A second test tries each attribute, and
then takes it away: the column "without it" is what it saw, and a bare "AttributeError"
says that the module has no such attribute. The last column names the test of the
feature, in `openreg/tests`.
"""
FEW = 3  # places that a cell names


def page(lookups: Lookups) -> str:
    """Return the text of the page."""
    cpp = " and ".join(f"`{name}`" for name in BY_CPP)
    parts = [HEAD.format(version=torch.__version__.split("+")[0], cpp=cpp)]
    for title, rows in PRESENT.items():
        parts += [f"## {title}\n", _table(rows, lookups)]
    parts += [
        "## Not asked of openreg\n",
        "Torch asks these of other devices, or for what this backend does not have: "
        "without the\nfirst four, Inductor raises `KeyError: 'openreg'`.\n",
        "| attribute | for | looked up in |\n|---|---|---|\n"
        + "".join(
            f"| `{name}` | {need} | {_places(name, lookups)} |\n"
            for name, need in ABSENT.items()
        ),
        "## Names that are computed\n",
        "* **FSDP** and the simulated ranks of `torch.distributed` forward any name to "
        "the\n  module. What they are asked for is in the tables above.\n"
        "* **Legacy types.** `torch.set_default_tensor_type` wants "
        "`torch.openreg.FloatTensor`\n  and raises AttributeError. The name works "
        "without the class in `x.type(...)`, and a\n  legacy storage does without.\n",
    ]
    return "\n".join(parts)


def _table(rows: list[Row], lookups: Lookups) -> str:
    lines = ["| attribute | for | without it | looked up in | test |"]
    lines += ["|---|---|---|---|---|"]
    for row in rows:
        test = row.test.replace("::", " ").split()
        lines.append(
            f"| `{row.name}` | {row.need} | {_without(row)} "
            f"| {_places(row.name, lookups)} | `{test[0]}` |"
        )
    return "\n".join(lines) + "\n"


def _without(row: Row) -> str:
    if "Error" in row.without or "Warning" in row.without:
        kind, _, message = row.without.strip("'").partition(": ")
        return f"{kind}: `{message.replace('`', '')} ...`" if message else kind
    if row.without == row.given:
        return "the same result"
    return f"silently `{row.without}`, not `{row.given}`"


def _places(name: str, lookups: Lookups) -> str:
    if name in BY_CPP:
        return BY_CPP[name]
    places = sorted(lookups.found[name])
    files = list(dict.fromkeys(place.split(":")[0] for place in places))
    files.sort(key=lambda file: file.startswith(("_", "testing")))  # those come last
    shown = []
    for file in files[:FEW]:
        function = next(p for p in places if p.startswith(f"{file}:")).split(": ")[1]
        shown.append(f"`{file}: {function}`")
    rest = len(files) - len(shown)
    more = f"; {rest} more file{'s' if rest > 1 else ''}" if rest else ""
    return "; ".join(shown) + more


if __name__ == "__main__":
    PAGE.write_text(page(Lookups(Path(torch.__file__).parent)))
