# No test waits for its own number of seconds; see CONTRIBUTING.md.
import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TESTS = [
    path
    for folder in ("tests", "openreg/tests")
    for path in (ROOT / folder).rglob("*.py")
    if "examples" not in path.parts and "tools" not in path.parts
]
WAITS = {"get", "join", "poll", "result", "wait"}
LONGEST = 5  # seconds: a shorter wait is part of what a test does


def own_numbers(source: str) -> list[int]:
    """The lines with a wait for a number of seconds."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    return [call.lineno for call in calls if any(map(is_long, limits(call)))]


def limits(call: ast.Call) -> list[ast.expr]:
    waits = isinstance(call.func, ast.Attribute) and call.func.attr in WAITS
    named = [word.value for word in call.keywords if word.arg == "timeout"]
    return named + (call.args[:1] if waits else [])


def is_long(limit: ast.expr) -> bool:
    value = limit.value if isinstance(limit, ast.Constant) else None
    return type(value) in (int, float) and value > LONGEST


@pytest.mark.parametrize("path", TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_waits_take_the_number_of_all(path):
    assert own_numbers(path.read_text(encoding="utf-8")) == []


def test_other_numbers_are_found():
    source = "thread.join(60)\nqueue.get(timeout=60)\nrun(x, timeout=9)\nevent.wait(1)"
    assert own_numbers(source) == [1, 2, 3]
    assert own_numbers("table.get(3)\nthread.join(PATIENCE)\n', '.join(x)") == []
