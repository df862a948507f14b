# Two packages that both rename PrivateUse1; see docs/frontend/import-orders.md.
import shutil
from pathlib import Path

import pytest
from contract import code, table

PAGE = "frontend/import-orders.md"
FOO = Path(__file__).parents[1] / "autoload/torch_foo/torch_foo"
PROGRAM = """
import sys
sys.path.{add}({site!r}{end}
for name in {names}:
    try:
        __import__(name)
    except RuntimeError as error:
        print(name, "raises", error, error.__cause__)
        if name == "torch":
            sys.exit()
import torch
print(torch.accelerator.current_accelerator())
if hasattr(torch, "openreg"):
    print(torch.ones(2, device="openreg").sum().item())
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder of packages that holds torch_foo with its entry point."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(FOO, folder / "torch_foo")
    metadata = folder / "torch_foo-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: torch_foo\n")
    (metadata / "entry_points.txt").write_text(
        "[torch.backends]\ntorch_foo = torch_foo:_autoload\n"
    )
    return folder


def start(run_python, site, autoload: str, order: list[str], names: list[str]):
    first = order[0] == "torch_foo"
    return run_python(
        PROGRAM.format(
            add="insert" if first else "append",
            site=0 if first else str(site),
            end=f", {str(site)!r})" if first else ")",
            names=names,
        ),
        TORCH_DEVICE_BACKEND_AUTOLOAD=autoload,
        PYTHONSAFEPATH="1",
    )


@pytest.mark.parametrize("row", table(PAGE, "autoload"), ids=lambda row: " ".join(row))
def test_the_table_says_what_each_order_gives(run_python, site, row):
    (autoload,), order, told = code(row[0]), code(row[1]), code(row[2])
    if autoload == "1":
        process = start(run_python, site, autoload, order, ["torch"])
        assert f"torch raises {told[0]}" in process.stdout, process.stderr
        owner = order[0].removeprefix("torch_")
        assert f"set! Current backend: {owner}" in process.stdout
        return
    process = start(run_python, site, autoload, order, ["torch", *order])
    assert process.returncode == 0, process.stderr
    lines = process.stdout.splitlines()
    assert told[0] in lines, process.stdout  # the accelerator
    refused = [line for line in lines if " raises " in line]
    assert len(refused) == len(order) - 1
    if refused:
        assert refused[0].startswith(f"{order[1]} raises ") and told[1] in refused[0]
    assert ("2.0" in lines) == (told[0] == "openreg")  # the first one still works
