# Builds a small site with the site_* extensions, for their tests.
from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

EXTENSIONS = Path(__file__).resolve().parents[1]
SPHINX = [sys.executable, "-m", "sphinx", "-W", "-n", "--keep-going", "-q"]
SPHINX += ["-b", "html"]
SETTINGS = """
import sys
sys.path.insert(0, {path!r})
project = "Small"
extensions = ["myst_parser", "sphinx_design", "site_callouts", "site_diagram",
              "site_llms", "site_reading_time", "site_sitemap"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 2
html_theme = "basic"
site_llms_summary = "A small site."
html_baseurl = {base_url!r}
"""


@dataclass(frozen=True)
class Built:
    """What a build left behind."""

    code: int
    messages: str
    out: Path

    def text(self, name: str) -> str:
        """Read one file of the site."""
        return (self.out / name).read_text(encoding="utf-8")


def build(
    folder: Path,
    pages: dict[str, str],
    base_url: str = "",
    settings: str = "",
    fresh: bool = True,
) -> Built:
    """Write the pages below ``folder``, build them as the guide is built.

    Unless ``fresh``, Sphinx reads only what has changed since the last build.
    """
    source = folder / "docs"
    common = SETTINGS.format(path=str(EXTENSIONS), base_url=base_url)
    for name, text in {**pages, "conf.py": common + settings}.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not (path.is_file() and path.read_text(encoding="utf-8") == text):
            path.write_text(text, encoding="utf-8")
    out = folder / "site"
    result = subprocess.run(
        [*SPHINX, *(["-E"] if fresh else []), str(source), str(out)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
    )
    return Built(result.returncode, result.stderr, out)
