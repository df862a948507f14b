"""`{torch-quote}`: lines of the installed torch, pinned by a hash of their text.

Explained in CONTRIBUTING.md, "Writing a chapter". The author writes

    ```{torch-quote} include/c10/core/DeviceType.h
    :match: enum class DeviceType
    :sha256: <leave out at first: the build prints it>
    ```

The path is relative to the `torch` package. `:match:` takes one text per line, each of
which stands in exactly one line of the file; the lines from the first to the last are
quoted. Or give `:start-after:` and `:end-before:`. An upgrade of torch that changes the
quoted lines breaks the build and prints the new text and hash.
"""

from __future__ import annotations

import hashlib
import re
import textwrap
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import OptionSpec

from snippet_contract.header import captioned
from snippet_contract.report import problem

LANGUAGES = {
    ".h": "cpp",
    ".hpp": "cpp",
    ".cpp": "cpp",
    ".py": "python",
    ".pyi": "python",
    ".yaml": "yaml",
    ".cmake": "cmake",
}


class QuoteError(Exception):
    """The installed torch does not have what the page quotes."""


class TorchQuote(SphinxDirective):
    """A literal block taken from the installed torch."""

    required_arguments = 1
    has_content = False
    option_spec: ClassVar[OptionSpec] = {
        "match": directives.unchanged,
        "start-after": directives.unchanged,
        "end-before": directives.unchanged,
        "sha256": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        path = self.arguments[0]
        try:
            root = torch_root(self.config.contract_torch_root)
            file = (root / path).resolve()
            if not (file.is_relative_to(root) and file.is_file()):
                raise QuoteError("the installed torch has no such file")
            first, quote = self._quote(file.read_text(encoding="utf-8").splitlines())
        except QuoteError as error:
            text = f"torch/{path}: {error}"
            problem("torch-quote", text, (self.env.docname, self.lineno))
            return [nodes.comment()]
        self._check_hash(path, quote, torch_version(root))
        language = LANGUAGES.get(file.suffix, "text")
        block = nodes.literal_block(quote, quote, language=language)
        block["contract"] = "torch-quote"
        self.set_source_info(block)
        text = f"torch/{path}, line {first} in torch {torch_version(root)}"
        node = captioned(block, text)
        self.set_source_info(node)
        return [node]

    def _quote(self, lines: list[str]) -> tuple[int, str]:
        """Number of the first quoted line, and the quoted text."""
        texts = [t.strip() for t in (self.options.get("match") or "").splitlines()]
        texts = [text for text in texts if text]
        start, end = self.options.get("start-after"), self.options.get("end-before")
        if texts and not (start or end):
            hits = [_only_line(lines, text) for text in texts]
            first, last = min(hits), max(hits) + 1
        elif start and end and not texts:
            first = _only_line(lines, start) + 1
            below = [n for n in range(first, len(lines)) if end in lines[n]]
            if not below:
                raise QuoteError(f"no line after {start!r} contains {end!r}")
            last = below[0]
        else:
            raise QuoteError("pass :match:, or :start-after: and :end-before:")
        quote = textwrap.dedent("\n".join(line.rstrip() for line in lines[first:last]))
        if not quote.strip():
            raise QuoteError("the quote is empty: move :start-after: or :end-before:")
        return first + 1, quote.strip("\n")

    def _check_hash(self, path: str, quote: str, version: str) -> None:
        digest = hashlib.sha256(quote.encode()).hexdigest()
        pinned = self.options.get("sha256")
        if pinned == digest:
            return
        what = "is not what the page was written for" if pinned else "is not pinned yet"
        problem(
            "torch-quote",
            f"this text of torch/{path} in torch {version} {what}. Read it, correct"
            f" the prose around it, then write\n:sha256: {digest}\n{quote}",
            (self.env.docname, self.lineno),
        )


def torch_root(configured: str | Path | None) -> Path:
    """Folder of the installed torch, found without importing it."""
    if configured:
        return Path(configured).resolve()
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        raise QuoteError("torch is not installed, so nothing can be quoted from it")
    return Path(spec.origin).parent.resolve()


def torch_version(root: Path) -> str:
    """Version of the torch in `root`, read from its own `version.py`."""
    try:
        text = (root / "version.py").read_text(encoding="utf-8")
    except OSError:
        return "(version unknown)"
    match = re.search(r"__version__ = ['\"]([^'\"+]+)", text)
    return match[1] if match else "(version unknown)"


def _only_line(lines: list[str], text: str) -> int:
    hits = [number for number, line in enumerate(lines) if text in line]
    if len(hits) != 1:
        raise QuoteError(f"{text!r} is in {len(hits)} lines; it must be in exactly one")
    return hits[0]


def setup(app: Sphinx) -> None:
    app.add_directive("torch-quote", TorchQuote)
    app.add_config_value(
        "contract_torch_root", None, "env", types=(str, Path, type(None))
    )
