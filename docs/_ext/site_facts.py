# Reads the facts every page shows (version, torch pin, addresses) from their one place.
"""Facts of the site.

The package version and the addresses come from ``pyproject.toml``, the torch version
from ``requirements/torch.txt``. A missing fact stops the build with a sentence that
names the file and the line to add: a guide that guesses its version is a wrong guide.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sphinx.errors import ConfigError

DEFAULT_REPOSITORY = "https://github.com/openreg/openreg"
TORCH_PIN = re.compile(r"^torch==(?P<version>\d+\.\d+\.\d+)\s*(?:#.*)?$", re.MULTILINE)


@dataclass(frozen=True)
class Facts:
    """What conf.py hands to the templates and to the pages."""

    version: str
    torch_version: str
    repository: str
    site_url: str  # "" when the site has no public address


def read_facts(root: Path) -> Facts:
    """Read all facts of the checkout at ``root``."""
    project = _project_table(root / "pyproject.toml")
    urls = project.get("urls", {})
    site_url = os.environ.get("OPENREG_SITE_URL") or urls.get("Documentation", "")
    if site_url and not site_url.startswith(("http://", "https://")):
        raise ConfigError(
            f"the site's address is {site_url!r}, but it must start with http:// or "
            "https://: correct OPENREG_SITE_URL or [project.urls] Documentation"
        )
    return Facts(
        version=project["version"],
        torch_version=_torch_version(root / "requirements" / "torch.txt"),
        repository=urls.get("Source", DEFAULT_REPOSITORY).rstrip("/"),
        site_url=site_url.rstrip("/") + "/" if site_url else "",
    )


def _project_table(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ConfigError(f"{path} is missing: the site takes its version from it")
    project = tomllib.loads(path.read_text(encoding="utf-8")).get("project", {})
    if "version" not in project:
        raise ConfigError(f'{path}: add version = "X.Y.Z" under [project]')
    return project


def _torch_version(path: Path) -> str:
    if not path.is_file():
        raise ConfigError(f"{path} is missing: it pins torch in one line, torch==X.Y.Z")
    pins = TORCH_PIN.findall(path.read_text(encoding="utf-8"))
    if len(pins) != 1:
        raise ConfigError(
            f"{path}: expected one line torch==X.Y.Z, found {len(pins)} such lines"
        )
    return pins[0]
