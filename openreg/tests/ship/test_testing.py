# PyTorch's device-generic tests run for openreg; see docs/ship/testing.md.
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from torch_release import TORCH, has_changed

GENERIC = Path(__file__).parents[1] / "tools/device_generic.py"


CLASSES = {  # how many tests each has at least, and how many of them are skipped
    "TestDeviceOPENREG": (5, 1),
    # torch 2.14 has an operator more
    "TestOperatorsOPENREG": (699, 11 if TORCH >= (2, 14) else 10),
    "TestModulesOPENREG": (120, 0),
    "TestOptimizersOPENREG": (13, 0),
}


@pytest.fixture(scope="module")
def generic_report():
    """In one process for all classes: to import the databases takes seconds."""
    process = subprocess.run(
        [sys.executable, str(GENERIC), "-v", *CLASSES],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    return process.stderr


def test_the_generic_tests_pass(generic_report):
    result = generic_report.splitlines()[-1]
    assert result.startswith("OK"), generic_report
    skipped = re.search(r"skipped=(\d+)", result)
    assert int(skipped[1]) == sum(skips for _, skips in CLASSES.values()), result


@pytest.mark.parametrize("name", CLASSES)
def test_the_generic_tests_run(name, generic_report):
    least, skips = CLASSES[name]
    lines = re.findall(rf"\(__main__\.{name}\..*", generic_report)
    assert len(lines) >= least
    skipped = [line for line in lines if " ... skipped " in line]
    assert len(skipped) == skips, skipped


@pytest.mark.parametrize(
    ("env", "classes"),
    [
        ({}, ["CPU", "PRIVATEUSE1"]),
        ({"PYTORCH_TESTING_DEVICE_ONLY_FOR": "openreg"}, ["PRIVATEUSE1"]),
        ({"PYTORCH_TESTING_DEVICE_ONLY_FOR": "privateuse1"}, ["PRIVATEUSE1"]),
        ({"PYTORCH_TESTING_DEVICE_ONLY_FOR": "cpu"}, ["CPU"]),
        ({"PYTORCH_TESTING_DEVICE_EXCEPT_FOR": "cpu"}, ["PRIVATEUSE1"]),
        ({"PYTORCH_TESTING_DEVICE_EXCEPT_FOR": "openreg"}, ["CPU"]),
        ({"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}, ["CPU"]),
    ],
)
def test_the_environment_selects_devices(env, classes, run_forked):
    process = run_forked(INSTANTIATE.format(only_for=None), **env)
    assert process.stdout.split() == [f"Test{name}" for name in classes], process.stderr


@pytest.mark.parametrize(
    ("custom", "known"),
    [
        ("privateuse1", True),
        ("openreg", has_changed("a custom device is known by its name")),
    ],
)
def test_a_file_for_other_devices_runs_on_this_one(custom, known, run_forked):
    program = INSTANTIATE.format(only_for="cuda")
    process = run_forked(program, PYTORCH_TESTING_DEVICE_FOR_CUSTOM=custom)
    assert process.stdout.split() == ["TestPRIVATEUSE1"] * known, process.stderr


def test_a_file_adds_a_base_class(run_forked, tmp_path):
    base = tmp_path / "base.py"
    base.write_text(
        "class Mine(CPUTestBase):\n    device_type = 'mine'\nTEST_CLASS = Mine\n"
    )
    program = INSTANTIATE.format(only_for=None)
    process = run_forked(program, TORCH_TEST_DEVICES=str(base))
    expected = ["TestCPU", "TestPRIVATEUSE1", "TestMINE"]
    assert process.stdout.split() == expected, process.stderr


def test_a_backend_says_what_to_expect(run_forked):
    process = run_forked(
        """
        import unittest
        import torch
        from torch.testing._internal.common_device_type import (
            PrivateUse1TestBase, instantiate_device_type_tests, onlyCUDA, ops,
        )
        from torch.testing._internal.common_methods_invocations import op_db
        from torch.testing._internal.common_utils import TestCase
        from torch.testing._internal.opinfo.core import DecorateInfo

        class Test(TestCase):
            @ops(op_db, allowed_dtypes=[torch.float32])
            def test_op(self, device, dtype, op):
                raise AssertionError("expected")

            @onlyCUDA
            def test_cuda(self, device):
                print("on", device)

            def test_excluded(self, device):
                pass

        fails = [DecorateInfo(unittest.expectedFailure)]
        PrivateUse1TestBase.set_test_configs(
            op_allowlist={"add", "mul"},
            op_overrides={"add": fails, "mul": fails},
            test_exclusions={"Test": ["test_excluded"]},
        )
        PrivateUse1TestBase.bypass_device_restrictions = True
        PrivateUse1TestBase.setUpClass()
        instantiate_device_type_tests(Test, globals(), only_for="openreg")
        suite = unittest.TestLoader().loadTestsFromTestCase(TestOPENREG)
        print(*sorted(test.id().split(".")[-1] for test in suite))
        result = unittest.TestResult()
        suite.run(result)
        print(result, result.failures)
        """
    )
    names, device, result = process.stdout.splitlines()
    assert names == "test_cuda_openreg test_op_add_openreg_float32 " + (
        "test_op_mul_openreg_float32"
    )
    assert device == "on openreg:0"
    assert "run=3 errors=0 failures=0" in result


INSTANTIATE = """
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase

class Test(TestCase):
    def test(self, device):
        pass

made = {{"Test": Test}}
instantiate_device_type_tests(Test, made, only_for={only_for!r})
print(*made)
"""
