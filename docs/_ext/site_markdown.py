# Turns a read page into plain Markdown for docs/_ext/site_llms.py.
"""Markdown from the document tree, after every directive has run.

Writing from the tree and not from the source file means that included snippets, quotes
and references arrive resolved, whichever extension made them. An unknown node loses its
decoration, never its text.
"""

from __future__ import annotations

from docutils import nodes
from sphinx import addnodes

NOT_SHOWN = (
    nodes.comment,
    nodes.raw,
    nodes.substitution_definition,
    nodes.system_message,
    nodes.target,
    addnodes.index,
    addnodes.toctree,
)
MARKS = {
    nodes.emphasis: "*",
    nodes.strong: "**",
    nodes.literal: "`",
}


def markdown(node: nodes.Node, depth: int = 0) -> str:
    """Return a block node as Markdown, without a line break at its end."""
    if isinstance(node, NOT_SHOWN) or type(node).__name__ == "sd_tab_input":
        return ""
    if isinstance(node, nodes.section):
        return _blocks(node.children, depth + 1)
    if isinstance(node, nodes.title) and isinstance(node.parent, nodes.section):
        return f"{'#' * depth} {inline(node)}"
    if isinstance(node, (nodes.literal_block, nodes.doctest_block)):
        return _fence(node)
    if isinstance(node, (nodes.bullet_list, nodes.enumerated_list)):
        return _list(node, depth)
    if isinstance(node, nodes.table):
        return _table(node)
    if isinstance(node, nodes.Admonition) and not isinstance(node, addnodes.desc):
        return _admonition(node, depth)
    if isinstance(node, nodes.block_quote):
        return _quote(_blocks(node.children, depth))
    if isinstance(node, addnodes.desc_signature):  # of a function or class
        return f"`{' '.join(node.astext().split())}`"
    if isinstance(node, (nodes.definition, addnodes.desc_content)):
        return ": " + _indent(_blocks(node.children, depth), 2)
    if isinstance(node, nodes.field):
        return f"{inline(node[0])}:\n\n{_blocks(node[1].children, depth)}"
    if isinstance(node, nodes.transition):
        return "---"
    if type(node).__name__ == "diagram":
        return f"[Diagram: {node['alt']}]"
    if _is_heading(node):
        return f"**{inline(node)}**"
    if isinstance(node, (nodes.TextElement, nodes.Text, nodes.image)):
        return inline(node).strip()
    return _blocks(node.children, depth)


def inline(node: nodes.Node) -> str:
    """Return the text of a node with its inline marks."""
    if isinstance(node, nodes.Text):
        return node.astext()
    if isinstance(node, nodes.image):
        return f"![{node.get('alt', '')}]({node['uri']})"
    if isinstance(node, NOT_SHOWN):
        return ""
    if isinstance(node, nodes.literal):
        mark = "``" if "`" in node.astext() else "`"
        return f"{mark}{node.astext()}{mark}"
    text = "".join(inline(child) for child in node.children)
    if isinstance(node, nodes.reference) and "refuri" in node:
        return f"[{text}]({_address(node)})"
    mark = MARKS.get(type(node), "")
    return f"{mark}{text}{mark}"


def _is_heading(node: nodes.Node) -> bool:
    """Tell captions, rubrics, and the titles of cards and tabs."""
    return (
        isinstance(node, (nodes.title, nodes.caption, nodes.rubric))
        or type(node).__name__ in ("sd_tab_label", "snippet_header")
        or (isinstance(node, nodes.Element) and "sd-card-title" in node["classes"])
    )


def _address(node: nodes.reference) -> str:
    """Point a link between pages to the Markdown beside the target page."""
    address = node["refuri"]
    if node.get("internal") or "://" not in address:
        page, hash_sign, anchor = address.partition("#")
        if page.endswith(".html"):
            page = page.removesuffix(".html") + ".md"
        return page + hash_sign + anchor
    return address


def _blocks(children: list[nodes.Node], depth: int) -> str:
    return "\n\n".join(filter(None, (markdown(child, depth) for child in children)))


def _fence(node: nodes.Element) -> str:
    language = node.get("language", "pycon" if ">>>" in node.astext() else "")
    fence = "```"
    while fence in node.astext():
        fence += "`"
    language = "" if language in ("default", "none") else language
    return f"{fence}{language}\n{node.astext().rstrip()}\n{fence}"


def _list(node: nodes.Element, depth: int) -> str:
    ordered = isinstance(node, nodes.enumerated_list)
    items = []
    for number, item in enumerate(node.children, node.get("start", 1)):
        mark = f"{number}. " if ordered else "- "
        items.append(mark + _indent(_blocks(item.children, depth), len(mark)))
    return ("\n\n" if any("\n\n" in item for item in items) else "\n").join(items)


def _admonition(node: nodes.Element, depth: int) -> str:
    children = node.children
    title = type(node).__name__.capitalize()
    if children and isinstance(children[0], nodes.title):
        title, children = inline(children[0]), children[1:]
    return _quote(f"**{title}**\n\n{_blocks(children, depth)}")


def _table(node: nodes.table) -> str:
    rows = [
        [
            " ".join(_blocks(cell.children, 0).split()).replace("|", "\\|")
            for cell in row
        ]
        for row in node.findall(nodes.row)
    ]
    rows.insert(1, ["---"] * len(rows[0]))
    caption = [f"**{inline(title)}**\n" for title in node.findall(nodes.title)]
    return "\n".join(caption + [f"| {' | '.join(row)} |" for row in rows])


def _indent(text: str, width: int) -> str:
    return text.replace("\n", "\n" + " " * width).replace(
        "\n" + " " * width + "\n", "\n\n"
    )


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines())
