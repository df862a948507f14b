# Writes docs/reference/device-module-table.md; see docs/frontend/device-module.md.
"""Makes the page out of what torch looks up, and of why; run it to write the page.

python openreg/tests/tools/module_table.py
"""

from pathlib import Path

import torch
from module_lookups import Lookups
from module_rows import ABSENT, BY_CPP, PRESENT, Row

PAGE = Path(__file__).resolve().parents[3] / "docs/reference/device-module-table.md"
HEAD = """\
# What torch looks up on the device module

This page lists every attribute that torch {version} looks up on `torch.<name>`, the
module of a device: what for, what happens without it, and which code looks it up.
[The device module](../frontend/device-module.md) explains how torch finds that module.

`openreg/tests/tools/module_lookups.py` reads torch's Python sources and collects the
lookups; C++ adds {cpp}. Some of them are for other devices only, because the tool lists
too many rather than too few. A test compares its findings with this page, so that new
lookups of another torch are noticed.

A second test uses each attribute and then removes it; the column "without it" shows the
result. A bare "AttributeError" says that the module has no such attribute. Below each
table are the code that looks the attributes up, and the tests in `openreg/tests`.
"""


def page(lookups: Lookups) -> str:
    """Return the text of the page."""
    cpp = " and ".join(f"`{name}`" for name in BY_CPP)
    parts = [HEAD.format(version=torch.__version__.split("+")[0], cpp=cpp)]
    for title, rows in PRESENT.items():
        parts += [f"## {title}\n", _table(rows, lookups)]
    parts += [
        "## Names that torch does not look up in openreg\n",
        "Torch looks these up only on other devices, or this backend registers them in "
        "another\nway: see [Inductor](../modules/compile-inductor.md).\n",
        "| attribute | for | looked up in |\n|---|---|---|\n"
        + "".join(
            f"| `{name}` | {need} | {_places(name, lookups)} |\n"
            for name, need in ABSENT.items()
        ),
        "## Names that are computed\n",
        "* **FSDP** and the simulated ranks of `torch.distributed` forward any name to "
        "the\n  module. The tables above list what torch looks up.\n"
        "* **Typed storages.** `Tensor.storage_type()` looks up "
        "`torch.openreg.FloatStorage`\n  and eleven more names, and returns `None` "
        "without them: see\n  [typed storages](../runtime/storage-tags.md"
        "#typed-storages-of-old-programs).\n"
        "* **Tensor types.** `torch.set_default_tensor_type` looks up "
        "`torch.openreg.FloatTensor`:\n  see [known gaps](../ship/known-gaps-names.md"
        "#tensor-types-are-names-without-classes).\n",
    ]
    return "\n".join(parts)


def _table(rows: list[Row], lookups: Lookups) -> str:
    lines = ["| attribute | for | without it |", "|---|---|---|"]
    lines += [f"| `{row.name}` | {row.need} | {_without(row)} |" for row in rows]
    lines += ["", ":::{dropdown} Callers and tests", ""]
    for row in rows:
        file, _, function = row.test.partition("::")
        lines.append(f"* `{row.name}`: {_places(row.name, lookups)}.")
        lines.append(f"  Test: `{file}`, `{function}`")
    return "\n".join([*lines, ":::"]) + "\n"


def _without(row: Row) -> str:
    if "Error" in row.without or "Warning" in row.without:
        kind, _, message = row.without.strip("'").partition(": ")
        return f"{kind}: `{message.replace('`', '')} ...`" if message else kind
    if row.without == row.given:
        return "the same result"
    return f"no exception: `{row.without}`, not `{row.given}`"


def _places(name: str, lookups: Lookups) -> str:
    places = {*lookups.found.get(name, ()), *([BY_CPP[name]] if name in BY_CPP else [])}
    functions: dict[str, list[str]] = {}
    for place in sorted(places):
        file, _, function = place.partition(": ")
        functions.setdefault(file, []).append(f"`{function}`")
    return "; ".join(
        f"{file if file == 'C++' else f'`{file}`'} in {', '.join(names)}"
        for file, names in functions.items()
    )


if __name__ == "__main__":
    PAGE.write_text(page(Lookups(Path(torch.__file__).parent)))
