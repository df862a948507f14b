"""Turns a violation of the snippet contract into a Sphinx warning that fails `-W`.

Explained in CONTRIBUTING.md, "Writing a chapter". A warning has the type `contract`, a
subtype that names the rule, and the place: a page and line, or a source file and line.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.util import logging

logger = logging.getLogger(__name__)

CODE_WIDTH = 88


def problem(
    rule: str, text: str, location: str | tuple[str, int] | nodes.Node | None
) -> None:
    """Report one violation of `rule`; `text` says what to do about it."""
    logger.warning(text, type="contract", subtype=rule, location=location)


def check_width(text: str, location: str | tuple[str, int] | nodes.Node) -> None:
    """Refuse the first line of code that a page cannot show without scrolling."""
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > CODE_WIDTH:
            problem(
                "width",
                f"line {number} of this code has {len(line)} columns, at most"
                f" {CODE_WIDTH} fit on the page: {line.strip()[:60]!r}... Break it.",
                location,
            )
            return


def _refuse_silence(app: Sphinx, config: Config) -> None:
    silenced = [name for name in config.suppress_warnings if _covers_contract(name)]
    if silenced:
        raise ConfigError(
            f"suppress_warnings contains {silenced}: the snippet contract cannot be"
            " silenced. Repair the page instead."
        )


def _covers_contract(name: str) -> bool:
    return name.split(".")[0] == "contract"


def setup(app: Sphinx) -> None:
    app.connect("config-inited", _refuse_silence)
