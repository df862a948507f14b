# A nox session that runs nothing, for tests of the sessions; see CONTRIBUTING.md.
"""Keeps what would be run and what is said."""

import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any


def load(name: str) -> ModuleType:
    """Import a program of the repository that is no module of a package."""
    path = Path(__file__).resolve().parents[1] / name
    spec = importlib.util.spec_from_file_location("under_test", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Refused(Exception):
    """What `error()` of a session raises."""


class RecordingSession:
    """Stands in for nox.Session; `output`: what a command prints, or a function."""

    def __init__(self, output: str | Callable[..., str] = "") -> None:
        self.posargs: list[str] = []
        self.name = "recording"
        self.commands: list[tuple[str, ...]] = []
        self.said: list[str] = []
        self.output = output
        self.log = self.warn = self.said.append

    def run(self, *command: str, **options: Any) -> str:
        self.commands.append(command)
        return self.output(*command) if callable(self.output) else self.output

    def error(self, message: str) -> None:
        raise Refused(message)
