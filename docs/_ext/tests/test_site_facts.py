# docs/_ext/site_facts.py: each missing or wrong fact stops the build with its remedy.
from __future__ import annotations

from pathlib import Path

import pytest
from site_facts import DEFAULT_REPOSITORY, read_facts
from sphinx.errors import ConfigError

PROJECT = '[project]\nname = "torch_openreg"\nversion = "1.2.3"\n'


@pytest.fixture(autouse=True)
def no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENREG_SITE_URL", raising=False)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "torch.txt").write_text("# The pin.\ntorch==2.13.0\n")
    return tmp_path


def test_facts_come_from_their_files(checkout: Path) -> None:
    facts = read_facts(checkout)
    assert facts.version == "1.2.3"
    assert facts.torch_version == "2.13.0"
    assert facts.repository == DEFAULT_REPOSITORY
    assert facts.site_url == ""


def test_addresses_come_from_the_project_urls(checkout: Path) -> None:
    urls = '[project.urls]\nSource = "https://a.b/c/"\nDocumentation = "https://d.e"\n'
    (checkout / "pyproject.toml").write_text(PROJECT + urls)
    facts = read_facts(checkout)
    assert facts.repository == "https://a.b/c"
    assert facts.site_url == "https://d.e/"


def test_environment_overrides_the_address(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENREG_SITE_URL", "https://x.y/guide")
    assert read_facts(checkout).site_url == "https://x.y/guide/"


def test_address_without_protocol_is_refused(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENREG_SITE_URL", "x.y/guide")
    with pytest.raises(ConfigError, match=r"'x\.y/guide'.*must start with http"):
        read_facts(checkout)


@pytest.mark.parametrize("name", ["pyproject.toml", "requirements/torch.txt"])
def test_missing_file_is_named(checkout: Path, name: str) -> None:
    (checkout / name).unlink()
    with pytest.raises(ConfigError, match=rf"{name} is missing"):
        read_facts(checkout)


def test_missing_version_says_what_to_add(checkout: Path) -> None:
    (checkout / "pyproject.toml").write_text('[project]\nname = "torch_openreg"\n')
    with pytest.raises(ConfigError, match=r'add version = "X.Y.Z" under \[project\]'):
        read_facts(checkout)


@pytest.mark.parametrize(
    ("text", "count"),
    [("torch>=2.13\n", 0), ("", 0), ("torch==2.13.0\ntorch==2.14.0\n", 2)],
)
def test_torch_pin_must_be_one_line(checkout: Path, text: str, count: int) -> None:
    (checkout / "requirements" / "torch.txt").write_text(text)
    with pytest.raises(ConfigError, match=f"one line torch==X.Y.Z, found {count}"):
        read_facts(checkout)
