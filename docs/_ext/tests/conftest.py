"""Puts the extensions of the guide on the path of their tests, and makes the projects.

Explained in CONTRIBUTING.md, "Writing a chapter".
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

EXTENSIONS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(EXTENSIONS))

from small_guide import Project  # noqa: E402


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path.resolve())
