# Writes sitemap.xml, the list of all pages for search engines.
"""A sitemap needs the public address of the site (``html_baseurl``).

Without one, the locations are relative to the site's root and a comment in the file
says how to name the address, so that a local build still lists every page.
"""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

from sphinx.application import Sphinx

NO_ADDRESS = (
    "  <!-- Relative: no public address is known. Set OPENREG_SITE_URL or\n"
    "       [project.urls] Documentation in pyproject.toml and build again. -->\n"
)


def sitemap(pages: list[str], base_url: str) -> str:
    """Return the sitemap of ``pages``, which are addresses relative to the root."""
    lines = [f"  <url><loc>{escape(base_url + page)}</loc></url>\n" for page in pages]
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
        + ("" if base_url else NO_ADDRESS)
        + "".join(lines)
        + "</urlset>\n"
    )


def _write(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.name != "html":
        return
    pages = [app.builder.get_target_uri(name) for name in sorted(app.env.found_docs)]
    text = sitemap(pages, app.config.html_baseurl)
    Path(app.outdir, "sitemap.xml").write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the file when the build is done."""
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
