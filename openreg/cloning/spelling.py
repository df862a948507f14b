# The names of the backend and its driver; see docs/ship/make-it-yours.md.
"""Distinguishes the backend's own names from similar ones of the driver."""

from __future__ import annotations

import re
from dataclasses import dataclass

SIMULATED = "openreg"  # the driver that the guide's backend comes with
WORD = re.compile(r"\w*(?:openreg|occl)\w*", re.IGNORECASE)
# What the driver declares, reads from the environment, and is called as a file.
FUNCTION = re.compile(r"occl[A-Z]\w*")
VARIABLE = re.compile(r"OPENREG_(DEVICE_COUNT|DEVICE_MEMORY|STEAL|LAUNCH_BLOCKING)")
ALSO = {"OPENREG_SIM_DELAY", "OCCL_SHM_DISABLE", "OCCL_UNIQUE_ID_BYTES"}
ALSO |= {"libopenreg", "lopenreg"}  # the linker takes -lopenreg
HEADER = re.compile(r"(openreg(_\w+)?|occl)(?=\.h\b)")
ARTICLE = re.compile(r"\b([Aa])n (?=[`'\"]*(?:openreg|occl))", re.IGNORECASE)
MARKER = re.compile(r"^ *(//|#) LITERALINCLUDE \w+: \w+\n", re.MULTILINE)
# Numbers of callouts, and what refers to pages: neither comes with a copy.
CALLOUT = re.compile(r" *(?://|#) \(\d+\)$", re.MULTILINE)
REFERENCE = re.compile(
    r"[;,.]? (?:see|see also|explained in|chapter)(?: |\n *(?:(?://|#|\*) )?)"
    r"docs/[\w/-]+\.md(?: and CONTRIBUTING\.md)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Spelling:
    """The new names: of the device, and of the driver if it has another one."""

    name: str
    driver: str = SIMULATED

    def renamed(self, text: str, path: str) -> str:
        """The text of a file, or its path, with the new names."""
        if self.name[0] not in "aeiou":
            text = ARTICLE.sub(r"\1 ", text)
        cmake = path.endswith(("CMakeLists.txt", ".cmake"))
        return WORD.sub(lambda found: self._word(found, cmake), text)

    def _word(self, found: re.Match[str], cmake: bool) -> str:
        word = found[0]
        if is_of_driver(found, cmake):
            if word == "occl" and self.driver != SIMULATED:
                return f"{self.driver}_ccl"  # the header
            return _in_three_cases(word, SIMULATED, self.driver)
        word = _in_three_cases(word, "openreg", self.name)
        return _in_three_cases(word, "occl", f"{self.name}ccl")


def is_of_driver(found: re.Match[str], cmake: bool) -> bool:
    """Whether a word is the driver's: a function, a header, a variable, a library."""
    word, text = found[0], found.string
    if FUNCTION.fullmatch(word) or VARIABLE.fullmatch(word) or word in ALSO:
        return True
    if HEADER.match(text, found.start()):
        return True
    if text.endswith("third_party/", 0, found.start()):
        return True
    alone = text[found.start() - 1] != "/" and not text.startswith("/", found.end())
    return cmake and word == SIMULATED and alone  # the target of the library


def _in_three_cases(text: str, old: str, new: str) -> str:
    text = text.replace(old, new).replace(old.upper(), new.upper())
    if old == "openreg":
        return text.replace("OpenReg", new.capitalize())
    return text.replace(old.capitalize(), new.capitalize())


def without_guide(text: str) -> str:
    """The text without the markers, callouts and references that are for the guide."""
    return REFERENCE.sub("", CALLOUT.sub("", MARKER.sub("", text)))
