# docs/_ext/site_tables.py: cells name their column, and tables their width.
from __future__ import annotations

import pytest
from site_tables import breakable, label, width_class

TABLE = """\
<table class="table">
<thead>
<tr class="row-odd"><th class="head"><p>You see</p></th>
<th class="head"><p>Why &amp; how</p></th>
</tr>
</thead>
<tbody>
<tr class="row-even"><td><p>a <code>b</code></p></td>
<td></td>
</tr>
</tbody>
</table>"""


def test_a_cell_has_the_head_of_its_column() -> None:
    labeled = label(TABLE)
    assert (
        '<td data-label="You see" role="cell"><p>a <code>b</code></p></td>' in labeled
    )
    assert '<td data-label="Why &amp; how" role="cell"></td>' in labeled
    assert '<th role="columnheader" class="head"><p>You see</p>' in labeled
    assert labeled.startswith('<table role="table" class="short table">')
    assert labeled.count('role="row"') == 2
    assert labeled.count('role="rowgroup"') == 2


def test_a_name_breaks_between_its_words() -> None:
    code = '<code class="a_b"><span>torch.getDeviceInfo&lt;map_it&gt;</span></code> a_b'
    assert breakable(code) == (
        '<code class="a_b"><span>torch.<wbr>get<wbr>Device<wbr>Info&lt;map_<wbr>it&gt;'
        "</span></code> a_b"
    )


def test_a_table_without_a_head_has_no_labels() -> None:
    labeled = label("<table><tbody><tr><td>a</td></tr></tbody></table>")
    assert "data-label" not in labeled
    assert '<td role="cell">a</td>' in labeled


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([["a", "b"], ["1", "2"]], "short"),
        ([["a", "b"], ["1", "a sentence that no phone shows beside it"]], ""),
        ([["a column"] * 6, ["1"] * 6], "many"),
        ([["a"] * 6, ["1"] * 6], "short"),
        ([[]], "short"),
    ],
)
def test_the_class_says_how_wide_a_table_is(rows: list[list[str]], wanted: str) -> None:
    assert width_class(rows) == wanted
