# Writes docs/reference/conformance-faults.md: which planted faults the kit finds.
"""Plants each fault in the backend, and runs the case that must find it.

python openreg/tests/tools/conformance_faults.py

It ends with 1 if the page was not what it is now. A test repeats a part.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
sys.path.insert(0, str(TOOLS))

from conformance.faults import all_faults  # noqa: E402

PAGE = TOOLS.parents[2] / "docs/reference/conformance-faults.md"
HEAD = """\
# Faults that the conformance kit finds

After this page you know what the [conformance kit](../ship/conformance.md) finds in a
broken backend, and which case finds it.

`openreg/tests/tools/conformance_faults.py` generates the table. It plants one fault at
a time in the complete backend and runs the case of the row, in a process of its own.
Without a fault, the same cases pass. A fault of the **driver** is in a library that is
loaded in front of the driver, a fault of the **device module** in `torch.openreg`, and
a wrong **kernel** replaces that of an operator.

**Found: {found} of {total}.**

| fault | where | case | outcome |
|---|---|---|---|
"""


def build_shim(folder: Path) -> Path:
    """Compile the driver with faults."""
    spec = find_spec("torch_openreg")
    assert spec and spec.submodule_search_locations, "torch_openreg is not installed"
    driver = TOOLS.parents[1] / "third_party/openreg"
    library = folder / "shim.so"
    compiler = os.environ.get("CC", "cc")
    command = [compiler, "-shared", "-fPIC", "-O1", "-Wall", f"-I{driver}"]
    command += [str(TOOLS / "conformance/shim.c"), "-o", str(library), "-ldl"]
    subprocess.run(command, check=True)
    return library


def measure(numbers: Sequence[int]) -> list[tuple[str, str]]:
    """The outcome of the case of each fault, without and with it."""
    with tempfile.TemporaryDirectory() as folder:
        shim = build_shim(Path(folder))
        command = [sys.executable, __file__, "--run", *map(str, numbers)]
        env = {**os.environ, "LD_PRELOAD": str(shim)}
        process = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True)
    found = json.loads(process.stdout.splitlines()[-1])
    return [(sound, broken) for sound, broken in found]


def run_here(numbers: Sequence[int]) -> list[tuple[str, str]]:
    """What ``measure`` starts, where the shim is loaded."""
    import torch_conformance

    faults, found, sound = all_faults(), [], dict[str, str]()
    for number in numbers:
        fault = faults[number]
        pair = []
        for plant in (lambda: None, fault.plant):
            if plant is not fault.plant and fault.case in sound:
                pair.append(sound[fault.case])
                continue
            results = torch_conformance.run(
                "openreg", words=[fault.case], warm=True, prepare=plant
            )
            (result,) = (r for r in results if r.case == fault.case)
            pair.append(result.outcome)
            if plant is not fault.plant:
                sound[fault.case] = result.outcome
            print(
                f"{fault.name}: {result.outcome} {result.detail[:300]}", file=sys.stderr
            )
        found.append((pair[0], pair[1]))
    return found


def page(outcomes: Sequence[tuple[str, str]]) -> str:
    """The page; every case passes without a fault."""
    rows, found = [], 0
    for fault, (sound, broken) in zip(all_faults(), outcomes, strict=True):
        assert sound == "passed", f"{fault.case}: {sound} without a fault"
        shown = "not found" if broken == "passed" else broken
        found += broken != "passed"
        rows.append(f"| {fault.name} | {fault.where} | `{fault.case}` | {shown} |")
    return HEAD.format(found=found, total=len(rows)) + "\n".join(rows) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", nargs="*", type=int, help=argparse.SUPPRESS)
    numbers = parser.parse_args().run
    if numbers is not None:
        print(json.dumps(run_here(numbers)))
        return 0
    text = page(measure(range(len(all_faults()))))
    old = PAGE.read_text() if PAGE.exists() else ""
    PAGE.write_text(text)
    return int(text != old)


if __name__ == "__main__":
    sys.exit(main())
