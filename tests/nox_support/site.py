"""Renders the guide: all of it, or only the pages whose text changed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nox

from nox_support.environments import ROOT, fingerprint, is_current, run, step

BUILD = ROOT / "build"
SITE = BUILD / "site"
# Pages that `tests-on -- cuda smoke` runs: the first ones, and what a build may change.
FIRST_PAGES = [
    "docs/index.md",
    "docs/start/quickstart.md",
    "docs/start/architecture.md",
    "docs/frontend/autoload.md",
    "docs/frontend/accelerator-api.md",
    "docs/runtime/device.md",
    "docs/ship/diagnose.md",
    "docs/ship/known-gaps-eager.md",
    "docs/ship/known-gaps-names.md",
]
# How lines begin that matter to other pages: headings, targets, directives, options. In
# code they mean nothing, and then all pages are rendered for nothing.
STRUCTURE = re.compile(r"[#(:`{]")


def find_pages() -> list[Path]:
    """The pages of the guide: folders that start with `_` hold none."""
    docs = ROOT / "docs"
    pages = docs.rglob("*.md")
    return [page for page in pages if "/_" not in f"/{page.relative_to(docs)}"]


def run_pages_with(
    session: nox.Session, tools: Path, start: str, env: dict[str, str]
) -> None:
    """Run the examples of the pages whose names start so, in another environment.

    Args:
        tools: of the environment that runs pages.
        env: in which they find what no other page needs.
    """
    pages = sorted(map(str, ROOT.glob(f"{start}*.md")))
    with step(session, "running the examples of its pages"):
        run(session, tools, "python", "docs/_ext/run_pages.py", *pages, env=env)


def with_packages_of(tools: Path) -> dict[str, str]:
    """Variables that let Python find the packages of another environment."""
    (packages,) = tools.parent.glob("lib/python3.*/site-packages")
    return {"PYTHONPATH": str(packages)}


def frame_of(sources: list[str]) -> str:
    """A key of all that the site is made of, except the prose of its pages."""
    pages = set(find_pages())
    files = [ROOT / source for source in sources if source != "docs"]
    files += [path for path in (ROOT / "docs").rglob("*") if path.is_file()]
    lines = [
        f"{page.relative_to(ROOT)} {line}"
        for page in sorted(pages)
        for line in page.read_text(encoding="utf-8").splitlines()
        if STRUCTURE.match(line)
    ]
    return fingerprint([path for path in sorted(files) if path not in pages], *lines)


def render(session: nox.Session, tools: Path, sources: list[str]) -> None:
    """Render what changed since the last success, and otherwise every page.

    A build that reads only the pages that changed still resolves the references of all,
    since `docs/_ext/site_llms.py` writes all. It must follow one that passed: otherwise
    `-W` would accept the fault of a page that it does not read again.
    """
    frame, stamp = frame_of(sources), SITE / ".frame"
    options = ["-W", "-n", "--keep-going", "-j", "auto"]
    if not is_current(stamp, frame):
        shutil.rmtree(SITE, ignore_errors=True)  # no page of an earlier build survives
        options.append("-E")  # reads every page anew
    stamp.unlink(missing_ok=True)  # after a failure, neither fits
    (SITE / ".key").unlink(missing_ok=True)
    output = ["-b", "html", "-d", "build/doctrees"]
    with step(session, "rendering the guide"):
        run(session, tools, "sphinx-build", *options, *output, "docs", "build/site")
    stamp.write_text(frame)
