# PyTorch's tests by class of hardware and by capability; see docs/ship/testing.md.
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from contract import table
from torch.testing._internal import common_device_type, common_utils
from torch_release import has_changed

TOOLS = Path(__file__).parents[1] / "tools"
BASE = TOOLS / "openreg_test_base.py"


def run_tool(name: str, *arguments: str, base: str = str(BASE)) -> str:
    env = {**os.environ, "TORCH_TEST_DEVICES": base, "OMP_NUM_THREADS": "1"}
    env.pop("CI", None)  # run_tests() would want a package for reports in XML
    process = subprocess.run(
        [sys.executable, "-W", "ignore", TOOLS / name, *arguments],
        capture_output=True,
        text=True,
        env=env,
    )
    return process.stdout + process.stderr


def counts(report: str) -> tuple[int, int, int, int]:
    """Tests, and how many of them passed, were skipped and failed."""
    tests = int(re.search(r"^Ran (\d+) tests?", report, re.MULTILINE)[1])
    last = report.splitlines()[-1]
    assert last.startswith(("OK", "FAILED")), report
    told = dict(re.findall(r"(\w+)=(\d+)", last))
    assert told.keys() <= {"skipped", "failures"}, report
    skipped, failed = int(told.get("skipped", 0)), int(told.get("failures", 0))
    return tests, tests - skipped - failed, skipped, failed


def test_the_releases_have_what_the_page_says():
    classes = has_changed("test classes have a class of hardware")
    assert hasattr(common_utils, "HardwareClassification") == classes
    capabilities = has_changed("tests count accelerators and ask for capabilities")
    assert hasattr(common_device_type, "Capability") == capabilities
    assert hasattr(common_device_type, "requires_capabilities") == capabilities


def test_the_declaration_replaces_the_base_class_of_torch():
    report = run_tool("device_generic.py", "-v", "TestDeviceOPENREG")
    assert counts(report) == (5, 4, 1, 0)
    assert "TestDevicePRIVATEUSE1" not in report


DECLARED = """
import json, torch
from torch.testing._internal import common_device_type
bases = common_device_type.device_type_test_bases
(declared,) = [base for base in bases if base.device_type == "openreg"]
assert common_device_type.PrivateUse1TestBase not in bases
print(json.dumps({key: ask() for key, ask in declared._capabilities().items()}))
"""


@pytest.fixture(scope="module")
def declared():
    process = subprocess.run(
        [sys.executable, "-c", DECLARED],
        capture_output=True,
        text=True,
        env={**os.environ, "TORCH_TEST_DEVICES": str(BASE)},
    )
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def fp8():
    x = torch.ones(16, 16, device="openreg").to(torch.float8_e4m3fn)
    one = torch.ones((), device="openreg")
    return torch._scaled_mm(x, x.t(), one, one, out_dtype=torch.float32)


def bf16():
    x = torch.ones(16, 16, device="openreg", dtype=torch.bfloat16)
    return x @ x


def attention(kind: str):
    x = torch.ones(1, 2, 16, 8, device="openreg")
    with torch.nn.attention.sdpa_kernel(getattr(torch.nn.attention.SDPBackend, kind)):
        return torch.nn.functional.scaled_dot_product_attention(x, x, x)


ATTEMPTS = {
    "dtype.fp8": fp8,
    "dtype.bf16": bf16,
    "attention.flash_attention": lambda: attention("FLASH_ATTENTION"),
    "attention.mem_efficient_attention": lambda: attention("EFFICIENT_ATTENTION"),
}


@pytest.mark.parametrize("name", ATTEMPTS)
@pytest.mark.filterwarnings("ignore:.*:UserWarning")  # why no kernel was chosen
def test_the_device_has_what_it_declares(declared, name):
    if declared[name]:
        result = ATTEMPTS[name]().float().cpu()
        expected = 1.0 if name.startswith("attention") else 16.0
        assert torch.equal(result, torch.full_like(result, expected))
    else:
        with pytest.raises(RuntimeError, match="No viable backend"):
            ATTEMPTS[name]()


def test_all_names_are_declared(declared):
    names = declared.keys()
    if has_changed("tests count accelerators and ask for capabilities"):
        names = common_device_type.CPUTestBase._capabilities().keys()
    assert declared.keys() == ATTEMPTS.keys() == names


@pytest.mark.needs(release="2.15")
@pytest.mark.parametrize("row", table("ship/testing.md", "`--hw-classification`"))
def test_the_page_has_the_numbers_of_each_class(row):
    name = row[0].strip("`")
    arguments = [] if name == "none" else ["--hw-classification", name]
    report = run_tool("hardware_classes.py", *arguments)
    *told, failed = map(int, row[1:])
    assert counts(report) == (*told, 0)
    assert ("unclassified=1" in report) == (name != "none")
    report = run_tool("hardware_classes.py", *arguments, base="")
    assert counts(report)[3] == failed
    assert ("openreg' has not declared capabilities" in report) == bool(failed)
