# The report of the conformance kit as one HTML file; see docs/ship/conformance.md.
"""Self-contained: no script, style sheet, font or image is loaded."""

from __future__ import annotations

from html import escape

from torch_conformance._case import CASES
from torch_conformance._report import Report, advice, level_name, yes_or_no

STYLE = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .5rem; vertical-align: top; }
tr { border-bottom: 1px solid #8886; }
pre { white-space: pre-wrap; margin: 0; }
"""
COLORS = {
    "passed": "#2e7d32",
    "wrong": "#c62828",
    "missing": "#8d8d8d",
    "crashed": "#6a1b9a",
    "hung": "#b26a00",
}
WIDTH, ROW = 360, 28


def page(report: Report) -> str:
    """Return the report as HTML."""
    title = f"Conformance of {escape(report.device)}"
    reached = "none" if report.reached is None else str(report.reached)
    summary = (
        f"Readiness {100 * report.readiness:.1f} %, level reached: {reached}, "
        f"torch {escape(report.torch)}"
    )
    for name, there in report.capabilities.items():
        summary += f"<br>{escape(name)}: {yes_or_no(there)}"
    rows = "".join(_row(report, number) for number in range(len(report.results)))
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f"<title>{title}</title><style>{STYLE}</style></head><body>"
        f"<h1>{title}</h1><p>{summary}</p>{_bars(report)}"
        "<table><thead><tr><th>case</th><th>outcome</th><th>what to do</th></tr>"
        f"</thead><tbody>{rows}</tbody></table></body></html>\n"
    )


def _bars(report: Report) -> str:
    """A bar for each level: the share of each outcome, passed cases first."""
    height = ROW * len(report.levels)
    parts = [
        f'<svg role="img" viewBox="0 0 {WIDTH + 320} {height}" width="100%">'
        "<title>Outcomes by level</title>"
    ]
    for row, level in enumerate(report.levels):
        results = report.of_level(level)
        top, left = row * ROW, 260.0
        parts.append(
            f'<text x="0" y="{top + 18}" fill="currentColor">'
            f"{escape(level_name(level))}</text>"
        )
        for outcome, color in COLORS.items():
            count = sum(result.outcome == outcome for result in results)
            width = WIDTH * count / len(results)
            if count:
                parts.append(
                    f'<rect x="{left:.1f}" y="{top + 3}" width="{width:.1f}" '
                    f'height="{ROW - 8}" fill="{color}">'
                    f"<title>{count} {outcome}</title></rect>"
                )
            left += width
        parts.append(
            f'<text x="{left + 8:.0f}" y="{top + 18}" fill="currentColor">'
            f"{100 * report.score(level):.0f} %</text>"
        )
    return "".join([*parts, "</svg>"])


def _row(report: Report, number: int) -> str:
    result = report.results[number]
    told = advice(CASES[result.case])
    color = COLORS[result.outcome]
    advised = escape(told["expects"])
    if not result.passed:
        advised += (
            f"<pre>{escape(result.detail)}</pre>"
            f"Implement: {escape(told['implement'])}<br>Page: {escape(told['page'])}"
        )
    return (
        f"<tr><td>{escape(result.case)}</td>"
        f'<td><span style="color:{color}">&#9632;</span> {result.outcome}</td>'
        f"<td>{advised}</td></tr>"
    )
