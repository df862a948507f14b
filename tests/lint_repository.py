"""Checks of the repository that no other linter makes; `nox -s lint` runs them."""

import re
import sys
from pathlib import Path

LONGEST_FILE = 450
LARGEST_FILE = 1_000_000  # bytes: a picture, not a build
HASH, SLASHES = ("#",), ("//", "/*")
COMMENT_OPENERS = {  # by suffix; by name where a file has none
    **{".c": SLASHES, ".cpp": SLASHES, ".css": SLASHES, ".h": SLASHES, ".js": SLASHES},
    **{".cmake": HASH, ".in": HASH, ".py": ("#", '"""'), ".pyi": HASH, ".sh": HASH},
    **{".html": ("<!--", "{#"), ".toml": HASH},
    **{".clang-format": HASH, ".gitignore": HASH, "CMakeLists.txt": HASH, "run": HASH},
}
NOT_MEASURED = {".svg", ".txt", ""}  # drawings, lock files, the license
LISTS = {"docs/reference/error-index.md"}  # written by a tool: rows of other pages
HEADER_LINES = 3  # a first sentence may need them
NAMED_PAGE = re.compile(r"\b(?:docs/[\w/-]+|CONTRIBUTING|README)\.md\b")
# A file of ours in the text of a page: `aten/ops/Copy.cpp`, `runtime/stream/*`.
NAMED_FILE = re.compile(
    r"`((?:openreg|csrc|aten(?!/src)|runtime|simulator|profiler|third_party"
    r"|torch_openreg|tests)/[\w/.*{},-]+)`"
)
FOLDERS_OF_FILES = (
    *("", "openreg", "openreg/csrc", "openreg/torch_openreg"),
    *("openreg/tests/custom/softcap", "openreg/third_party/openreg"),
)
GENERATED = re.compile(
    r"(^|/)(build|__pycache__|[^/]+\.egg-info|\.nox)/|\.(a|o|pyc|so|whl|log|orig|rej)$"
)
# Written so that no pattern matches the line it stands in.
FORBIDDEN = {
    "a path of one machine": re.compile(r"(?<![\w.}])/(?:home|root|tmp|work)/\w"),
    "the address of a package registry": re.compile(
        r"pypi[.]org|pythonhosted[.]org|download[.]pytorch[.]org"
    ),
    "unfinished work": re.compile(r"\b(?:TO[D]O|FIX[M]E)\b"),
    "a test that does not run": re.compile(
        r"mark\.(?:skip|xfail)|pytest\.(?:skip|xfail|importorskip)\b|GTEST[_]SKIP"
    ),
    "a conflict of a merge": re.compile(r"^(?:<{7}|={7}|>{7})(?: |$)"),
    "an import that the conftest.py of another folder may answer": re.compile(
        r"\b(?:from|import) conftes[t]\b"
    ),
}


def problems(root: Path, name: str) -> list[str]:
    """What is wrong with one file, as `name:line: what` texts."""
    content = (root / name).read_bytes()
    found = []
    if GENERATED.search(name):
        found.append(f"{name}: a generated file; remove it and add it to .gitignore")
    if len(content) > LARGEST_FILE:
        found.append(f"{name}: {len(content)} bytes, more than {LARGEST_FILE}")
    if b"\0" in content:
        return found  # a picture
    lines = content.decode().splitlines()
    measured = Path(name).suffix not in NOT_MEASURED and name not in LISTS
    if len(lines) > LONGEST_FILE and measured:
        found.append(f"{name}: {len(lines)} lines, more than {LONGEST_FILE}; split it")
    if not says_what_it_is_for(name, lines):
        found.append(f"{name}:1: the first line must be a comment: what is it for?")
    for number, line in enumerate(lines[:HEADER_LINES], start=1):
        for page in NAMED_PAGE.findall(line):
            if not (root / page).is_file():
                found.append(f"{name}:{number}: names a missing page: {page}")
    for number, line in enumerate(lines, start=1):
        for file in NAMED_FILE.findall(line) if name.endswith(".md") else ():
            if not is_file_of_ours(root, file):
                found.append(f"{name}:{number}: names a missing file: {file}")
        for what, pattern in FORBIDDEN.items():
            if match := pattern.search(line):
                found.append(f"{name}:{number}: {what}: {match.group()}")
    return found


def is_file_of_ours(root: Path, file: str) -> bool:
    """Whether a file or a folder has this name, or pattern such as `Copy.{h,cpp}`."""
    braces = re.fullmatch(r"(.*)\{(.*)\}(.*)", file)
    before, choices, after = braces.groups() if braces else (file, "", "")
    names = [before + choice + after for choice in choices.split(",")]
    return all(
        any(any((root / folder).glob(name)) for folder in FOLDERS_OF_FILES)
        for name in names
    )


def says_what_it_is_for(name: str, lines: list[str]) -> bool:
    """Whether the first line, or the one below a shebang, is a comment with words."""
    path = Path(name)
    openers = COMMENT_OPENERS.get(path.suffix or path.name)
    openers = COMMENT_OPENERS.get(path.name, openers)
    if openers is None:
        return True
    first = next((line for line in lines if not line.startswith("#!")), "")
    return first.startswith(openers) and len(re.findall(r"[A-Za-z]{2,}", first)) >= 3


def main(names: list[str]) -> int:
    if not names:
        print("usage: python tests/lint_repository.py FILE...", file=sys.stderr)
        return 2
    root = Path(__file__).resolve().parent.parent
    found = [problem for name in names for problem in problems(root, name)]
    print(*found, sep="\n", end="\n" if found else "")
    print(f"repository: {len(names)} files, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
