# docs/_ext/operator_coverage.py: what was measured stands in the tables, and is needed.
from __future__ import annotations

import json
import subprocess
from pathlib import Path

from compiled_tables import compiled_table, compiler_table
from conformance_tables import conformance_table, failures_table
from opencl_tables import days_table, speed_table
from operator_coverage import (
    database_list,
    dtypes_table,
    overloads_lists,
    releases_table,
    routes_table,
    soak_table,
    sweep_table,
)
from packaging_table import packaging_table
from site_build import EXTENSIONS, SPHINX

MEASURED = {
    "torch": "2.13.0",
    "routes": {
        "aten::_exp": ["native", "torch"],
        "aten::add.Tensor": ["native", "torch"],
        "aten::add.out": ["native", "ours"],
        "aten::erf.out": ["fallback", "torch"],
        "aten::hypot.out": ["fallback", "nobody"],
        "aten::matmul": ["implicit", "its parts"],
    },
    "database": {
        "add": [],
        "erf": ["aten::erf.out", "own::erf"],
        "matmul": [],
    },
}


def test_the_table_counts_routes_and_what_fell_back() -> None:
    table = routes_table(MEASURED)
    assert "| Native | a kernel of this backend, on the stream | 3 | - |" in table
    assert "| Fallback | copies to the CPU, and back | 2 | 1 |" in table
    assert "| all | | 6 | 1 |" in table
    assert "| this backend | 1 |" in table


def test_the_sizes_and_build_times_say_when_they_were_measured() -> None:
    row = {"MB": 2.7, "seconds": 133.4, "cpu": 246.2, "cores": 2}
    row |= {"date": "2026-11-26", "commit": "abc"}
    lines = packaging_table({"one release": row}).splitlines()
    assert lines[2] == (
        "| a wheel for one release of torch | 2.7 MB | 133 s | 246 s "
        "| 2026-11-26, `abc`, 2 cores |"
    )
    assert [line.count("not measured") for line in lines[2:]] == [0, 1, 1, 1]
    assert {line.count("|") for line in lines} == {6}


def test_each_overload_is_listed_below_its_letter() -> None:
    lists = overloads_lists(MEASURED)
    assert "{dropdown} Native: 3 overloads" in lists
    assert "**A:** `add` Tensor, out" in lists
    assert "**E:** `_exp` default" in lists
    assert "**E:** `erf` out\\*" in lists
    assert "**H:** `hypot` out\n" in lists


def test_the_operators_that_fell_back_are_listed_with_the_reason() -> None:
    text = database_list(MEASURED)
    assert text.startswith("Of 3 operators, 2 ran without a fallback")
    assert "* `erf`: `erf.out`, `own::erf`" in text
    assert "`matmul`" not in text


def test_a_page_is_built_from_the_file_and_not_without_it(tmp_path: Path) -> None:
    measured = tmp_path / "operators.json"
    (tmp_path / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(EXTENSIONS)!r})\n"
        'extensions = ["myst_parser", "sphinx_design", "operator_coverage"]\n'
        'myst_enable_extensions = ["colon_fence"]\n'
        f"operator_coverage_file = {str(measured)!r}\n"
    )
    tables = ("routes", "overloads", "database")
    blocks = "\n".join(f"```{{operator-coverage}} {name}\n```" for name in tables)
    (tmp_path / "index.md").write_text(f"# Coverage\n\n{blocks}\n")
    command = [*SPHINX, str(tmp_path), str(tmp_path / "out")]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode != 0
    assert "operators.json is missing. `nox -s docs` makes it" in process.stderr
    measured.write_text(json.dumps(MEASURED))
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert "hypot" in (tmp_path / "out" / "index.html").read_text()


def test_pairs_of_operator_and_dtype_are_grouped():
    pairs = [
        ("histc", "int8", None),
        ("histc", "int32", None),
        ("exp", "complex32", "rare"),
    ]
    pairs += [("sin", "complex32", "rare")]
    assert dtypes_table({"cuda dtypes": pairs}).splitlines()[2:] == [
        "| `histc` | int8, int32 | yes |",
        "| `exp`, `sin` | complex32 | no: rare |",
    ]


def test_the_verdicts_of_a_run_are_added_up_by_way():
    run = {
        "torch": "2.13.0",
        "commit": "0123456789ab",
        "date": "2026-01-02",
        "full": True,
        "samples": 50,
        "left out": [],
        "counts": [
            ["bool", "forward", {"right": 3, "error": 1}],
            ["int64", "forward", {"right": 4}],
            ["bool", "out", {"right": 2, "same error": 1}],
        ],
    }
    table = sweep_table(run)
    assert "2026-01-02, commit `0123456789ab`, torch 2.13.0: 11 cases with all" in table
    assert "| way | dtypes | cases | right | error | same error |" in table
    assert "| forward | 2 | 8 | 7 | 1 | - |" in table
    assert "| out | 1 | 3 | 2 | - | 1 |" in table
    assert "| all |  | 11 | 9 | 1 | 1 |" in table
    assert "| forward | int64 | 4 | 4 | - | - |" in table
    assert "at most five samples each" in sweep_table({**run, "full": False})
    assert "left out" not in table
    part = sweep_table({**run, "left out": ["int8", "uint8"]})
    assert "50 in all. It left out the dtypes int8, uint8." in part


def test_the_soak_table_shows_processes_and_calls() -> None:
    run = {
        "torch": "2.13.0",
        "commit": "0123456789ab",
        "date": "2026-01-02",
        "minutes": 30,
        "runs": [["ranks", "-", 3, 1], ["programs", "OPENREG_STEAL=0", 4, 0]],
        "calls": {"free": 12, "make": 3456},
        "sanitized": {
            "address": {
                "commit": "ba9876543210",
                "date": "2026-01-03",
                "minutes": 9,
                "processes": 60,
                "failed": 0,
            }
        },
    }
    lines = soak_table(run).splitlines()
    assert lines[0].endswith("torch 2.13.0: 7 processes in 30 minutes.")
    assert "| ranks | `-` | 3 | 1 |" in lines
    sanitized = "sanitizer `address`, 2026-01-03, commit `ba9876543210`, 9 minutes"
    assert f"| all | {sanitized} | 60 | 0 |" in lines
    assert lines[-2:] == ["| make | 3,456 |", "| free | 12 |"]


def test_the_table_of_compiled_code_shows_ratios() -> None:
    head = {"torch": "2.13.0", "commit": "0123456789ab", "date": "2026-01-02"}
    rows = {
        "MLP step, device / CPU": [0.0123, 0.0246, 0.5],
        "tiny, replay / call": [0.0000012, 0.000012, 0.1],
    }
    lines = compiled_table({**head, "cores": 2, "rows": rows}).splitlines()
    assert "2026-01-02, commit `0123456789ab`, torch 2.13.0, on 2 cores" in lines[0]
    assert lines[4] == "| training step of an MLP | the CPU, compiled | 0.50 |"
    assert lines[5].endswith("| their compiled call | 0.10 |")


def test_the_table_of_the_compiled_database_counts_operators() -> None:
    run = {
        "torch": "2.13.0",
        "commit": "0123456789ab",
        "date": "2026-01-02",
        "counts": {"fused kernels": 5, "the error of the CPU": 2},
        "failed": 1,
        "entries": 9,
    }
    lines = compiler_table(run).splitlines()
    assert lines[0].endswith("torch 2.13.0: 8 of 9 operators, 1 of them wrong.")
    assert lines[-1] == "| nothing: compiling for the CPU fails as well | 2 |"


def test_the_table_of_releases_says_what_did_not_run() -> None:
    about = {"torch": "2.15.0+cu132", "date": "2026-01-02", "commit": "abc"}
    row = {
        "tests": {"passed": 3, "failed": 1, "of": "tests/ship", **about},
        "build": {"MB": 1.5, **about},
        "gaps": {"no pool": 1, "no hook": 0, **about},
    }
    lines = releases_table({"2.14.1": {}, "2.15.0": row}).splitlines()
    assert lines[2] == "| 2.14.1 | not run | not run | not run | not run | not run |"
    assert "| 1.5 MB, 2026-01-02, `abc` | not run | 3 of 4 (tests/ship), " in lines[3]
    assert lines[5:] == [
        "| gap | 2.15.0 |",
        "|---|---|",
        "| no pool | there |",
        "| no hook | closed |",
        "| asked | 2026-01-02, `abc` |",
    ]


def test_the_tables_of_the_conformance_kit_name_what_does_not_pass() -> None:
    failed = {"device.threads": "hung", "device.context": "wrong", "a.b": "missing"}
    level = {"passed": 7, "seconds": 1.5, "score": 0.699, "failed": failed}
    run = {
        "torch": "2.13.0",
        "commit": "abc",
        "date": "2026-01-02",
        "readiness": 0.5,
        "reached": None,
        "levels": {"1": level},
    }
    lines = conformance_table({"acme": run, "b": run | {"levels": {}}}).splitlines()
    assert lines[0] == "| level | acme | b |"
    assert lines[2] == "| 1 | 7 of 10, 69 %, 2 s | - |"
    assert lines[-1].endswith(
        "recorded 2026-01-02: readiness 50 %, level reached: none."
    )
    assert failures_table({"acme": run}).splitlines()[2:] == [
        "| acme | 1 | device | `threads` hung, `context` wrong |",
        "| acme | 1 | a | `b` missing |",
    ]


def test_the_tables_of_the_second_device_show_what_was_recorded() -> None:
    row = {"days": "5", "driver": 1200, "kernels": 0, "passed": 3, "cases": 4}
    when = {"date": "2026-01-02", "commit": "abc"}
    lines = days_table({**when, "rows": {"add": row}}).splitlines()
    assert lines[2] == "| 5 | add | 1,200 lines | 0 lines | 3 of 4 |"
    assert lines[-1] == "Recorded 2026-01-02, commit `abc`."
    lines = speed_table({**when, "rows": {"add": [300.0, 200.0]}}).splitlines()
    assert lines[2] == "| add | 300 | 200 | 1.5 |"
