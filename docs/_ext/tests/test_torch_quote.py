"""One planted fault for every rule about quotes of the installed torch.

Explained in CONTRIBUTING.md, "Writing a chapter".
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from small_guide import Project
from snippet_contract.torch_quote import QuoteError, torch_root, torch_version

HEADER = """
  struct Hooks {
    virtual bool hasPrimaryContext() const;
    virtual bool isBuilt() const;
  };
"""
QUOTE = "virtual bool hasPrimaryContext() const;\nvirtual bool isBuilt() const;"
HASH = hashlib.sha256(QUOTE.encode()).hexdigest()
BOTH = ":match: |\n:  hasPrimaryContext\n:  isBuilt\n"


@pytest.fixture
def torch(project: Project) -> Project:
    project.write("torch/version.py", "__version__ = '2.13.0+cpu'\n")
    project.write("torch/include/Hooks.h", HEADER)
    project.conf += f"contract_torch_root = {str(project.root / 'torch')!r}\n"
    return project


def quote(options: str, path: str = "include/Hooks.h") -> str:
    return f"```{{torch-quote}} {path}\n{options}```\n"


@pytest.mark.parametrize(
    "options", [BOTH, ":start-after: struct Hooks\n:end-before: };\n"]
)
def test_quotes_the_installed_text(torch: Project, options: str) -> None:
    torch.page(quote(f"{options}:sha256: {HASH}\n"))
    assert torch.build("text") == []
    text = (torch.out / "index.txt").read_text(encoding="utf-8")
    assert "virtual bool isBuilt() const;" in text
    assert "struct" not in text


def test_upgrade_that_changes_the_text_breaks_the_build(torch: Project) -> None:
    torch.write("torch/include/Hooks.h", HEADER.replace("isBuilt()", "isBuilt(int)"))
    torch.page(quote(f"{BOTH}:sha256: {HASH}\n"))
    [warned] = torch.build()
    new = QUOTE.replace("isBuilt()", "isBuilt(int)")
    assert warned[:2] == ("contract.torch-quote", "docs/index.md:3")
    assert "in torch 2.13.0 is not what the page was written for" in warned.text
    assert f":sha256: {hashlib.sha256(new.encode()).hexdigest()}" in warned.text
    assert new in warned.text


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (
            quote(BOTH),
            f"is not pinned yet. Read it, correct the prose around it, then"
            f" write\n:sha256: {HASH}",
        ),
        (
            quote(BOTH, "include/Absent.h"),
            "torch/include/Absent.h: the installed torch has",
        ),
        (
            quote(BOTH, "../openreg.h"),
            "torch/../openreg.h: the installed torch has no",
        ),
        (quote(":match: virtual\n"), "'virtual' is in 2 lines"),
        (quote(":match: absent\n"), "'absent' is in 0 lines"),
        (quote(":start-after: struct Hooks\n"), "pass :match:, or :start-after: and"),
        (quote(":match: isBuilt\n:end-before: };\n"), "pass :match:, or"),
        (quote(":start-after: isBuilt\n:end-before: struct\n"), "no line after"),
        (quote(":start-after: isBuilt\n:end-before: };\n"), "the quote is empty"),
    ],
    ids=[
        *("unpinned", "absent", "outside", "ambiguous", "no-match", "no-end", "mixed"),
        *("end-above", "empty"),
    ],
)
def test_refuses_quote(torch: Project, block: str, text: str) -> None:
    torch.page(block)
    [warned] = torch.build()
    assert warned[:2] == ("contract.torch-quote", "docs/index.md:3")
    assert text in warned.text


def test_torch_is_found_without_importing_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "torch"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    (package / "version.py").write_text('__version__ = "2.14.0"')
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    monkeypatch.delitem(__import__("sys").modules, "torch", raising=False)
    assert torch_version(torch_root(None)) == "2.14.0"
    monkeypatch.setattr("sys.path", [])
    with pytest.raises(QuoteError, match="torch is not installed"):
        torch_root(None)
