# docs/_ext/python_reference.py: names become signatures, and a wrong name an error.
from __future__ import annotations

import re
from pathlib import Path

from python_reference import description
from site_build import build

SETTINGS = """
extensions.append("python_reference")
nitpick_ignore_regex = [("py:(class|exc|obj)", ".*")]
"""
MODULE = '''
"""A module."""

class Queue:
    """Work in order."""

    def wait(self, seconds: float) -> bool:
        """Wait for the work.

        Raises:
            ValueError: the time is negative.
        """
        return True

    def _hidden(self) -> None:
        """Not shown."""

    def bare(self) -> None:
        return None

def size(name: str = "a") -> int:
    """Return how many; see :class:`Queue`."""
    return 1

LIMIT = 3  #: the most
'''


def test_a_page_of_names(tmp_path: Path) -> None:
    (tmp_path / "small_api.py").write_text(MODULE)
    path = f"sys.path.insert(0, {str(tmp_path)!r})\n"
    text = "# API\n\n```{python-api} small_api\nQueue\nsize\nLIMIT\n```\n\nEnd.\n"
    built = build(tmp_path, {"index.md": text}, settings=path + SETTINGS)
    assert built.code == 0, built.messages
    page = built.text("index.html")
    assert 'id="small_api.Queue.wait"' in page and 'id="small_api.LIMIT"' in page
    assert 'href="#small_api.Queue"' in page  # the role of the docstring
    assert "_hidden" not in page and "Queue.bare" not in page
    plain = built.text("index.md")
    assert "`small_api.size(name: str = 'a') -> int`\n\n: Return how many" in plain
    assert re.search(r"Raises:\n\n.*ValueError.* the time is negative\.", plain)
    assert plain.index("LIMIT") < plain.index("End.")


def test_a_name_that_is_gone_stops_the_build(tmp_path: Path) -> None:
    text = "# API\n\n```{python-api} json\ndumps\ndumpz\n```\n"
    built = build(tmp_path, {"index.md": text}, settings=SETTINGS)
    assert built.code != 0
    assert "module 'json' has no attribute 'dumpz'" in built.messages


def test_the_kind_of_a_name() -> None:
    assert description("json", "dumps") == ".. autofunction:: json.dumps\n\n"
    assert ":members: decode, raw_decode" in description("json", "JSONDecoder")
    assert ".. autodata:: json.__version__" in description("json", "__version__")
