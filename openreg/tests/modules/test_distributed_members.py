# What of torch's interfaces occl has and leaves out; see
# docs/modules/distributed-failures.md.
import re

from contract import CSRC, INCLUDE, code, table, virtuals
from torch_release import of_the_pages

C10D = "torch/csrc/distributed/c10d"
BACKEND = virtuals(f"{C10D}/Backend.hpp", "class TORCH_API Backend :")
WORK = re.findall(r"virtual [^(]*?(\w+)\(", (INCLUDE / C10D / "Work.hpp").read_text())
PAGE = "modules/distributed-failures.md"


def ours(header):
    text = (CSRC / "distributed" / header).read_text()
    return set(re.findall(r"(\w+)\([^()]*\)(?: const)? override", text))


@of_the_pages
def test_the_table_has_each_member_by_what_torch_does_without_it():
    told = {what: set(code(names)) for what, names in table(PAGE, "Without it, torch")}
    kinds = {
        "throws": {"throws"},
        "returns false": {"returns false"},
        "does nothing, or keeps the name": {"does nothing"},
    }
    assert told == {
        what: {name for name, kind in BACKEND.items() if kind in of}
        for what, of in kinds.items()
    }


@of_the_pages
def test_the_page_has_each_member_that_occl_leaves_out():
    rows = table(PAGE, "occl leaves out")
    left_out = {name for row in rows for name in code(row[0])}
    assert left_out == (
        (BACKEND.keys() - ours("ProcessGroupOCCL.h"))
        | ({f"Work::{name}" for name in set(WORK) - ours("WorkOCCL.h")})
    )
