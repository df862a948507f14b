# The versions of the table about torchao are the pinned ones; see
# docs/modules/torchao.md.
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def pin(file, package):
    lines = (ROOT / "requirements" / file).read_text().splitlines()
    (found,) = (line for line in lines if line.startswith(f"{package}=="))
    return found.partition("==")[2]


def test_the_table_names_the_pinned_versions():
    """`nox -s clients` compares the rest of the page, with the library at hand."""
    text = " ".join((ROOT / "docs/reference/torchao-table.md").read_text().split())
    ao, torch = pin("clients.txt", "torchao"), pin("torch.txt", "torch")
    hint = "write it again: python openreg/tests/tools/torchao_table.py"
    assert f"torchao {ao} does on your device, with torch {torch}." in text, hint
