# Writes a page at each address that is gone, which sends its reader on.
"""``docs/redirects.toml`` maps the name of a removed page to its new place.

"runtime/device" = "runtime/device#the-first-tensor"

A new place is a page, and perhaps the anchor of a heading as links in Markdown write
it. A name that is a page, and a new place that is missing, are errors: an address that
a reader has kept must lead somewhere.
"""

from __future__ import annotations

import posixpath
import tomllib
from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

logger = logging.getLogger(__name__)

NAME = "redirects.toml"
# No style, no script: it works from file://, and search engines take the new address.
PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>This page has moved</title>
<meta name="robots" content="noindex">
<meta http-equiv="refresh" content="0; url={link}">
<link rel="canonical" href="{canonical}">
</head>
<body>
<main><h1>This page has moved</h1><p>It is now <a href="{link}">here</a>.</p></main>
</body>
</html>
"""


def read(path: Path) -> dict[str, str]:
    """Return the new place of each removed page; none without the file."""
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}


def page(old: str, new: str, base_url: str) -> str:
    """Return the HTML at ``old``; ``new`` is a page and perhaps the id of a heading."""
    name, _, anchor = new.partition("#")
    address = f"{name}.html" + (f"#{anchor}" if anchor else "")
    link = posixpath.relpath(address, posixpath.dirname(old) or ".")
    canonical = f"{base_url}{name}.html" if base_url else link
    return PAGE.format(link=escape(link), canonical=escape(canonical))


def _anchors(env: BuildEnvironment, name: str) -> dict[str, str]:
    """The anchors of a page as links in Markdown write them, with their ids in HTML."""
    anchors = {
        identifier: identifier
        for node in env.get_doctree(name).findall(nodes.Element)
        for identifier in node.get("ids", ())
    }
    slugs = env.metadata[name].get("myst_slugs", {})
    return anchors | {slug: identifier for slug, (_, identifier, _) in slugs.items()}


def _check(app: Sphinx, env: BuildEnvironment) -> None:
    """Refuse what leads nowhere, and keep what is left for the end of the build."""
    checked: dict[str, str] = {}
    for old, new in read(Path(app.srcdir, NAME)).items():
        name, _, anchor = new.partition("#")
        if old in env.found_docs:
            fault = "is a page: remove its line"
        elif name not in env.found_docs:
            fault = f"leads to '{name}', which is no page"
        elif anchor and anchor not in _anchors(env, name):
            fault = f"leads to '{anchor}', which is no heading of '{name}'"
        else:
            place = f"{name}#{_anchors(env, name)[anchor]}" if anchor else name
            checked[old] = place
            continue
        logger.warning(f"{NAME}: '{old}' {fault}", type="redirects")
    app.site_redirects = checked  # type: ignore[attr-defined]


def _write(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.name != "html":
        return
    for old, new in app.site_redirects.items():  # type: ignore[attr-defined]
        path = Path(app.outdir, f"{old}.html")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(old, new, app.config.html_baseurl), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Check the file when all pages are read, and write when the build is done."""
    app.connect("env-updated", _check)  # of every build, whatever it has to read
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
