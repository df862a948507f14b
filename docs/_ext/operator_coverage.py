# `{operator-coverage}`: the tables of docs/reference/operator-coverage.md, as measured.
"""Tables of which operator runs where.

openreg/tests/tools/measure_operators.py writes what it measured to
build/operators.json; `nox -s docs` runs it when the backend has changed. The directive
takes a word:
`routes` for the counts, `overloads` for the lists of all overloads, `database` for the
operators of PyTorch's database that fell back, `dtypes` for those of CUDA only.
`sweep` shows the counts that `nox -s sweep -- --record` left in
openreg/tests/tools/sweep/last_run.json, `soak` those of `nox -s soak -- --record`,
`releases` those of `nox -s versions`, and `compiler` those of
`nox -s compiler -- --record`; `compiled` shows the times that
`openreg/benchmarks/compiled.py --record` measured, and `packaging` those of
openreg/tests/tools/measure_packaging.py. `conformance` and
`conformance-failures` show what openreg/tests/tools/conformance/record.py kept.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from compiled_tables import compiled_table, compiler_table
from conformance_tables import conformance_table, failures_table
from docutils import nodes
from opencl_tables import days_table, speed_table
from packaging_table import packaging_table
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective
from triton_tables import costs_table, members_table
from triton_tables import speed_table as triton_speed_table

ROOT = Path(__file__).resolve().parents[2]
MEASURED = ROOT / "build" / "operators.json"
TOOLS = ROOT / "openreg" / "tests" / "tools"
TRITON_SPEED = ROOT / "openreg/benchmarks/triton_speed.json"
ROUTES = {
    "native": ("Native", "a kernel of this backend, on the stream"),
    "implicit": ("Composite, implicit", "other operators; autograd sees those"),
    "explicit": ("Composite, explicit", "other operators, below autograd"),
    "out form": ("Composite, out form", "the same operator with `out=`"),
    "fallback": ("Fallback", "copies to the CPU, and back"),
    "unsupported": ("No kernel", "nothing for dense tensors: raises"),
}
AUTOGRAD = {
    "torch": "torch, with the formula of `derivatives.yaml`, or an error for `out=`",
    "its parts": "the operators that it is made of",
    "ours": "this backend",
    "nobody": "no kernel: the call passes through",
}


class OperatorCoverage(SphinxDirective):
    """Inserts one of the tables."""

    required_arguments = 1
    has_content = False

    def run(self) -> list[nodes.Node]:
        table = self.arguments[0]
        if table in RECORDED:
            file, show = RECORDED[table]
            self.env.note_dependency(str(file))
            recorded = json.loads(file.read_text(encoding="utf-8"))
            return self.parse_text_to_nodes(show(recorded))
        file = Path(self.config.operator_coverage_file)
        if not file.is_file():
            raise ExtensionError(
                f"{file} is missing. `nox -s docs` makes it; by hand: "
                "python openreg/tests/tools/measure_operators.py build/operators.json"
            )
        self.env.note_dependency(str(file))
        measured = json.loads(file.read_text(encoding="utf-8"))
        return self.parse_text_to_nodes(TABLES[table](measured))


def routes_table(measured: dict[str, Any]) -> str:
    """Return a table of the routes and one of those of autograd."""
    routes = measured["routes"].values()
    fell_back = _fell_back(measured)
    by_route = Counter(route for route, _ in routes)
    slow = Counter(measured["routes"][name][0] for name in fell_back)
    lines = ["| route | a call runs | overloads | fell back |", "|---|---|--:|--:|"]
    for route, (title, meaning) in ROUTES.items():
        lines.append(
            f"| {title} | {meaning} | {by_route[route]} | {slow[route] or '-'} |"
        )
    lines.append(f"| all | | {by_route.total()} | {slow.total()} |")
    by_autograd = Counter(autograd for _, autograd in routes)
    lines += ["", "| with autograd, derivatives come from | overloads |", "|---|--:|"]
    lines += [f"| {text} | {by_autograd[kind]} |" for kind, text in AUTOGRAD.items()]
    return "\n".join(lines)


def overloads_lists(measured: dict[str, Any]) -> str:
    """Return a folded list for each route, by the first letter of the operator."""
    fell_back, routes = _fell_back(measured), measured["routes"]
    lines: list[str] = []
    for route, (title, _) in ROUTES.items():
        names = [name for name, found in routes.items() if found[0] == route]
        lines += [f"::::{{dropdown}} {title}: {len(names)} overloads", ""]
        by_letter: dict[str, dict[str, list[str]]] = {}
        for name in names:
            operator, _, overload = name.removeprefix("aten::").partition(".")
            letter = operator.lstrip("_")[0].upper()
            mark = "\\*" if name in fell_back else ""
            overloads = by_letter.setdefault(letter, {}).setdefault(operator, [])
            overloads.append((overload or "default").replace("_", "\\_") + mark)
        for letter, operators in sorted(by_letter.items()):
            items = [f"`{name}` {', '.join(all_)}" for name, all_ in operators.items()]
            lines += [f"**{letter}:** " + " · ".join(items), ""]
        lines += ["::::", ""]
    return "\n".join(lines)


def database_list(measured: dict[str, Any]) -> str:
    """Return what fell back in each operator of the database where something did."""
    database = measured["database"]
    slow = {name: found for name, found in database.items() if found}
    lines = [
        f"Of {len(database)} operators, {len(database) - len(slow)} ran without a "
        f"fallback, forward and backward. In the other {len(slow)}, these fell back:",
        "",
        "::::{dropdown} Operators with a fallback",
        "",
    ]
    for name, found in sorted(slow.items()):
        parts = ", ".join(f"`{one.removeprefix('aten::')}`" for one in found)
        lines.append(f"* `{name}`: {parts}")
    return "\n".join([*lines, "::::"])


def dtypes_table(measured: dict[str, Any]) -> str:
    """Return the pairs of operator and dtype that CUDA has and the CPU lacks."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for name, dtype, reason in measured["cuda dtypes"]:
        grouped.setdefault((reason or "", name), []).append(dtype)
    lines = ["| operator | dtypes | on this device |", "|---|---|---|"]
    by_dtypes: dict[tuple[str, str], list[str]] = {}
    for (reason, name), dtypes in grouped.items():
        by_dtypes.setdefault((reason, ", ".join(dtypes)), []).append(f"`{name}`")
    for (reason, text), names in sorted(by_dtypes.items()):
        served = f"no: {reason}" if reason else "yes"
        lines.append(f"| {', '.join(names)} | {text} | {served} |")
    return "\n".join(lines)


def sweep_table(last_run: dict[str, Any]) -> str:
    """Return a table of the verdicts of a run, by way, then all rows."""
    kinds = list(dict.fromkeys(k for *_, row in last_run["counts"] for k in row))
    by_way: dict[str, Counter[str]] = {}
    dtypes: dict[str, int] = Counter()
    for _, way, row in last_run["counts"]:
        by_way.setdefault(way, Counter()).update(row)
        dtypes[way] += 1
    total = sum(by_way.values(), Counter())
    missing = ", ".join(last_run["left out"])
    left_out = f" It left out the dtypes {missing}." if missing else ""
    samples = "all samples" if last_run["full"] else "at most five samples each"

    def line(name: str, row: Counter[str] | dict[str, int]) -> str:
        cells = [str(row.get(kind) or "-") for kind in kinds]
        return f"| {name} | {' | '.join([str(sum(row.values())), *cells])} |"

    numbers = "--:|" * (len(kinds) + 1)
    return "\n".join(
        [
            f"The last run that was recorded is of {last_run['date']}, commit "
            f"`{last_run['commit']}`, torch {last_run['torch']}: {total.total()} cases "
            f"with {samples} of the database, {last_run['samples']} in all.{left_out}",
            "",
            f"| way | dtypes | cases | {' | '.join(kinds)} |",
            f"|---|--:|{numbers}",
            *(line(f"{way} | {dtypes[way]}", row) for way, row in by_way.items()),
            line("all | ", total),
            "",
            "::::{dropdown} Each dtype by itself",
            "",
            f"| way | dtype | cases | {' | '.join(kinds)} |",
            f"|---|---|{numbers}",
            *(line(f"{way} | {dtype}", row) for dtype, way, row in last_run["counts"]),
            "",
            "::::",
        ]
    )


def soak_table(last_run: dict[str, Any]) -> str:
    """Return a table of the processes of a run, and one of what they did."""
    total = sum(processes for *_, processes, _ in last_run["runs"])
    lines = [
        f"The last run that was recorded is of {last_run['date']}, commit "
        f"`{last_run['commit']}`, torch {last_run['torch']}: {total} processes in "
        f"{last_run['minutes']} minutes.",
        "",
        "| rounds | settings | processes | failed |",
        "|---|---|--:|--:|",
    ]
    for kind, settings, processes, failed in last_run["runs"]:
        lines.append(f"| {kind} | `{settings}` | {processes} | {failed} |")
    for name, run in last_run.get("sanitized", {}).items():
        lines.append(
            f"| all | sanitizer `{name}`, {run['date']}, commit `{run['commit']}`, "
            f"{run['minutes']} minutes | {run['processes']} | {run['failed']} |"
        )
    lines += ["", "| what they did | times |", "|---|--:|"]
    calls = sorted(last_run["calls"].items(), key=lambda item: -item[1])
    lines += [f"| {name} | {count:,} |" for name, count in calls]
    return "\n".join(lines)


def releases_table(last_run: dict[str, Any]) -> str:
    """Return a row for each release of torch, and one for each gap."""
    parts = ["build", "first tensor", "tests", "operators", "examples"]
    lines = [f"| torch | {' | '.join(parts)} |", "|---|" + "---|" * len(parts)]
    for release, row in last_run.items():
        cells = [_released(row.get(part)) for part in parts]
        lines.append(f"| {release} | {' | '.join(cells)} |")
    asked = {release: row["gaps"] for release, row in last_run.items() if "gaps" in row}
    lines += ["", f"| gap | {' | '.join(asked)} |", "|---|" + "---|" * len(asked)]
    about = ("torch", "date", "commit")
    for gap in dict.fromkeys(name for found in asked.values() for name in found):
        if gap not in about:
            cells = ["there" if found[gap] else "closed" for found in asked.values()]
            lines.append(f"| {gap} | {' | '.join(cells)} |")
    cells = [f"{found['date']}, `{found['commit']}`" for found in asked.values()]
    return "\n".join([*lines, f"| asked | {' | '.join(cells)} |"])


def _released(counts: dict[str, Any] | None) -> str:
    if counts is None:
        return "not run"
    if "MB" in counts:
        text = f"{counts['MB']} MB"
    else:
        text = f"{counts['passed']} of {counts['passed'] + counts['failed']}"
    part = f" ({counts['of']})" if "of" in counts else ""
    return f"{text}{part}, {counts['date']}, `{counts['commit']}`"


RECORDED = {
    "releases": (TOOLS / "releases" / "last_run.json", releases_table),
    "sweep": (TOOLS / "sweep" / "last_run.json", sweep_table),
    "soak": (TOOLS / "soak" / "last_run.json", soak_table),
    "compiler": (
        ROOT / "openreg/tests/modules/compiler/last_run.json",
        compiler_table,
    ),
    "packaging": (TOOLS / "packaging.json", packaging_table),
    "compiled": (ROOT / "openreg/benchmarks/compiled.json", compiled_table),
    "conformance": (TOOLS / "conformance" / "recorded.json", conformance_table),
    "conformance-failures": (TOOLS / "conformance" / "recorded.json", failures_table),
    "opencl-days": (TOOLS / "conformance" / "opencl.json", days_table),
    "opencl-speed": (ROOT / "openreg/benchmarks/opencl.json", speed_table),
    "triton-members": (TOOLS / "triton_knockouts.json", members_table),
    "triton-speed": (TRITON_SPEED, triton_speed_table),
    "triton-costs": (TRITON_SPEED, costs_table),
}
TABLES = {
    "dtypes": dtypes_table,
    "routes": routes_table,
    "overloads": overloads_lists,
    "database": database_list,
}


def _fell_back(measured: dict[str, Any]) -> set[str]:
    found = {name for names in measured["database"].values() for name in names}
    return found & set(measured["routes"])


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("operator-coverage", OperatorCoverage)
    app.add_config_value("operator_coverage_file", str(MEASURED), "env", types=[str])
    return {"parallel_read_safe": True, "parallel_write_safe": True}
