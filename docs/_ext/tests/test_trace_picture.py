# docs/_ext/trace_picture.py: bars stand where the trace says, and programs may fail.
from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest
from site_diagram import SVG, find_faults
from sphinx.errors import ExtensionError
from trace_picture import draw, line, record


def bar(kind: str, name: str, place: tuple[int, int, float, float], number: int) -> Any:
    """One bar of a trace; the place is process, row, begin, duration."""
    pid, tid, begin, duration = place
    args = {"correlation": number}
    event = {"ph": "X", "cat": kind, "name": name, "pid": pid, "tid": tid}
    return event | {"ts": begin, "dur": duration, "args": args}


def title(pid: int, tid: int, name: str) -> Any:
    """The name of a row."""
    event = {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid}
    return event | {"args": {"name": name}}


TRACE = {
    "traceEvents": [
        title(0, 0, "openreg:0 stream 0"),
        title(0, 1, "openreg:0 stream 1"),
        title(9, 9, "thread 9 (python)"),
        bar("privateuse1_runtime", "orLaunchKernel", (9, 9, 100.0, 1.0), 1),
        bar("privateuse1_runtime", "orMemcpyAsync", (9, 9, 101.0, 1.0), 2),
        bar("privateuse1_runtime", "orDeviceSynchronize", (9, 9, 101.0, 99.0), 3),
        bar("cpu_op", "aten::<mm>", (9, 9, 90.0, 20.0), 0),
        bar("kernel", "<mm>", (0, 0, 110.0, 90.0), 1),
        bar("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", (0, 1, 150.0, 25.0), 2),
    ]
}


def test_each_row_has_its_bars_and_each_piece_of_work_its_arrow() -> None:
    text = draw(TRACE, "small")
    assert find_faults("small", text) == []
    root = ElementTree.fromstring(text)
    words = [element.text for element in root.iter(f"{SVG}text")]
    assert words == [
        "host: orLaunchKernel, orMemcpyAsync",
        "openreg:0 stream 0: <mm>",
        "openreg:0 stream 1: Memcpy HtoD",
        "0",
        "0.10 ms",
    ]
    bars = [
        (float(rect.get("x", "")), float(rect.get("width", "")))
        for rect in root.iter(f"{SVG}rect")
    ]
    whole = 384.0 - 6.0
    assert bars[2] == pytest.approx((6 + 0.1 * whole, 0.9 * whole), abs=0.1)
    assert bars[3] == pytest.approx((6 + 0.5 * whole, 0.25 * whole), abs=0.1)
    assert len(bars) == 4
    lines = [path.get("d", "") for path in root.iter(f"{SVG}path")]
    assert ["L" in line for line in lines] == [True, True, False]  # arrows, the axis


@pytest.mark.parametrize(
    ("end", "path"),
    [
        ((20, 100), "M20.0 0.0L20.0 50.0M20.0 68.0L20.0 100.0"),
        ((120, 100), "M20.0 0.0L70.0 50.0M80.0 60.0L120.0 100.0"),  # leaves it at 80
        ((220, 100), "M20.0 0.0L220.0 100.0"),  # passes on its right
        ((20, 68), "M20.0 0.0L20.0 50.0M20.0 68.0L20.0 68.0"),  # the heading of its bar
    ],
)
def test_an_arrow_is_interrupted_by_a_heading(
    end: tuple[float, float], path: str
) -> None:
    assert line((20, 0), end, [(50, 80)]) == path  # 50 down, as high as HEADING


def test_an_arrow_to_the_left_enters_a_heading_at_its_end() -> None:
    path = "M120.0 0.0L80.0 40.0M62.0 58.0L20.0 100.0"
    assert line((120, 0), (20, 100), [(40, 80)]) == path
    assert line((120, 0), (120, 100), [(40, 80)]) == "M120.0 0.0L120.0 100.0"


def test_long_headings_are_cut() -> None:
    events = [*TRACE["traceEvents"]]
    events += [
        bar("kernel", f"a_long_name_{i}", (0, 0, 200.0 + i, 1.0), 1) for i in range(9)
    ]
    assert find_faults("small", draw({"traceEvents": events}, "small")) == []


def test_a_trace_without_the_device_is_refused() -> None:
    with pytest.raises(ValueError, match="no work of the device"):
        draw({"traceEvents": [TRACE["traceEvents"][6]]}, "small")


def test_a_program_writes_the_trace_or_its_error_is_told(tmp_path: Path) -> None:
    good = tmp_path / "good.py"
    good.write_text("import sys\nopen(sys.argv[1], 'w').write('{\"a\": 1}')\n")
    assert record(good) == {"a": 1}
    bad = tmp_path / "bad.py"
    bad.write_text("raise SystemExit('no device')\n")
    with pytest.raises(ExtensionError, match="no device"):
        record(bad)
