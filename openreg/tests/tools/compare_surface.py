# Compares the extension points of two torch releases; see docs/ship/upgrading.md.
"""What is new, gone or changed for a backend: for `nox -s surface`, or by hand.

    python openreg/tests/tools/compare_surface.py OLD NEW
    python openreg/tests/tools/compare_surface.py OLD NEW --only "virtual functions"
    python openreg/tests/tools/compare_surface.py OLD NEW --undecided

OLD and NEW are environments, folders of the package torch, or wheels of it. Neither is
imported, so a wheel needs no dependencies. Only the standard library is used.
"""

import argparse
import json
from pathlib import Path

from surface import Surface, collect, decisions, opened, version_of

Difference = dict[str, dict[str, dict[str, list[str]]]]


def compare(old: Surface, new: Surface) -> Difference:
    """Return the differences by kind, then by `new`, `gone` and `changed`."""
    return {
        kind: {
            "new": {n: [new[kind][n]] for n in sorted(new[kind].keys() - old[kind])},
            "gone": {n: [old[kind][n]] for n in sorted(old[kind].keys() - new[kind])},
            "changed": {
                name: [old[kind][name], new[kind][name]]
                for name in sorted(old[kind].keys() & new[kind])
                if old[kind][name] != new[kind][name]
            },
        }
        for kind in new
    }


def show(difference: Difference, versions: list[str]) -> str:
    """Return the report as text, with a count for each kind."""
    lines = [f"Extension points of torch {versions[0]} and {versions[1]}"]
    for kind, changes in difference.items():
        counts = ", ".join(f"{len(found)} {word}" for word, found in changes.items())
        lines += ["", f"== {kind}: {counts}"]
        for mark, word in (("+", "new"), ("-", "gone")):
            lines += [
                f"{mark} {name}  {_short(it[0])}" for name, it in changes[word].items()
            ]
        for name, (before, after) in changes["changed"].items():
            lines += [f"~ {name}", f"    {versions[0]}: {_short(before, after)}"]
            lines.append(f"    {versions[1]}: {_short(after, before)}")
    return "\n".join(line.rstrip() for line in lines)


def _short(text: str, other: str = "", limit: int = 160) -> str:
    """Cut a long text, and begin shortly before it differs from the other one."""
    same = 0
    while same < min(len(text), len(other)) and text[same] == other[same]:
        same += 1
    start = max(0, same - 60) if len(text) > limit else 0
    cut = text[start : start + limit]
    left, right = "..." * (start > 0), "..." * (start + limit < len(text))
    return f"{left}{cut}{right}"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--only", metavar="KIND", help="one kind, such as operators")
    parser.add_argument("--json", type=Path, help="write the differences there as well")
    text = "list only changes that surface/decisions.toml does not name"
    parser.add_argument("--undecided", action="store_true", help=text)
    text = "keep the names of the changes for the tests, in surface/recorded"
    parser.add_argument("--record", action="store_true", help=text)
    chosen = parser.parse_args(arguments)
    surfaces, versions = [], []
    for where in (chosen.old, chosen.new):
        try:
            with opened(where) as torch:
                surfaces.append(collect(torch))
                versions.append(version_of(torch))
        except FileNotFoundError as error:
            parser.error(str(error))
    difference = compare(*surfaces)
    if chosen.only:
        if chosen.only not in difference:
            parser.error(f"there is no {chosen.only!r}, but: {', '.join(difference)}")
        difference = {chosen.only: difference[chosen.only]}
    if chosen.json:
        chosen.json.write_text(json.dumps(difference, indent=1) + "\n")
    release = decisions.minor_of(versions[1])
    if chosen.record:
        decisions.record(difference, release)
    if chosen.undecided:
        found = decisions.items(difference)
        rest = decisions.undecided(found, release, decisions.read())
        print(*rest, f"{len(rest)} of {len(found)} changes are undecided", sep="\n")
    else:
        print(show(difference, versions))


if __name__ == "__main__":
    main()
