# Puts above every included snippet the path of its file, linked to the repository.
"""A reader who copies a snippet must know which file it was cut from.

Sphinx records the file of each ``literalinclude``; this extension shows it. A snippet
that already has a caption keeps it and gets the path behind it.
"""

from __future__ import annotations

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx


def add_caption(block: nodes.literal_block, path: str, repository: str) -> None:
    """Show ``path``, relative to the repository, in the caption of ``block``."""
    link = nodes.reference(
        "",
        "",
        nodes.literal(path, path),
        refuri=f"{repository}/blob/main/{path}",
        classes=["snippet-path"],
    )
    frame = block.parent
    if isinstance(frame, nodes.container) and frame.get("literal_block"):
        caption = next(frame.findall(nodes.caption))
        caption += [nodes.Text(" "), link]
        return
    caption = nodes.caption("", "", link)
    caption.source, caption.line = block.source, block.line
    wrapper = nodes.container("", literal_block=True, classes=["literal-block-wrapper"])
    block.replace_self(wrapper)
    wrapper += [caption, block]
    if wrapper.document is not None:
        wrapper.document.note_implicit_target(wrapper)  # the writer links to the block


def _caption_all(app: Sphinx, doctree: nodes.document) -> None:
    root = Path(app.confdir).parent
    for block in list(doctree.findall(nodes.literal_block)):
        source = block.get("source")
        if source and Path(source).is_relative_to(root):
            path = Path(source).relative_to(root).as_posix()
            add_caption(block, path, app.config.site_repository)


def setup(app: Sphinx) -> dict:
    """Add the captions when a page is read."""
    app.add_config_value("site_repository", "", "html", types=[str])
    app.connect("doctree-read", _caption_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
