# `{python-api} MODULE`: signatures and docstrings for docs/reference/torch-openreg.md.
"""The directive lists names of a module, one a line; Sphinx's autodoc describes them.

Docstrings are reStructuredText, which MyST does not parse inside a page. So they are
parsed here, and the page needs no block whose code nothing checks.
"""

from __future__ import annotations

import importlib
import inspect
import warnings

from docutils import nodes
from docutils.parsers.rst import Parser
from docutils.utils import new_document
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def description(module: str, name: str) -> str:
    """The directive of autodoc for one name; a class comes with its public members."""
    value = getattr(importlib.import_module(module), name)
    kind, options = "data", "   :no-value:\n"
    if inspect.isclass(value):
        members = [m for m in vars(value) if not m.startswith("_") and _doc(value, m)]
        kind, options = "class", f"   :members: {', '.join(members)}\n" * bool(members)
    elif callable(value):
        kind, options = "function", ""
    return f".. auto{kind}:: {module}.{name}\n{options}\n"


def _doc(owner: type, member: str) -> str | None:
    """The docstring that the class itself gives a member."""
    found = inspect.getattr_static(owner, member)
    found = getattr(found, "__func__", found)
    callables = (property, classmethod, staticmethod)
    return found.__doc__ if callable(found) or isinstance(found, callables) else None


class PythonApi(SphinxDirective):
    """Describes names of a module."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        module = self.arguments[0]
        text = "".join(description(module, name) for name in self.content)
        document = new_document(self.env.doc2path(self.env.docname))
        document.settings = self.state.document.settings
        document.reporter = self.state.document.reporter
        with warnings.catch_warnings():  # autodoc reads attributes that are deprecated
            warnings.simplefilter("ignore", UserWarning)
            Parser().parse(text, document)
        return document.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the directive, with autodoc for docstrings in the form of this project."""
    app.setup_extension("sphinx.ext.autodoc")
    app.setup_extension("sphinx.ext.napoleon")
    app.add_directive("python-api", PythonApi)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
