# Which overloads count as native, and the case of `out=`; see docs/ship/conformance.md.
import ast

import pytest
from starter_build import install_starter, package_of, run_on_starter

OVERLOADS = [
    "add.Tensor",
    "add.out",
    "mm",
    "mm.out",
    "relu",
    "relu.out",
    "abs",
    "abs.out",
]
# Kernels in place of those of a backend: the starter has none and falls back.
PROGRAM = """
import sys

sys.path.append({kit!r})
import torch
import torch_starter
from torch_conformance._device import Device
from torch_conformance._dispatch import is_native, named
from torch_conformance._outcome import Missing
from torch_conformance.cases.natives import out

FUNCTIONAL = {{f"{{it}}.out": f"{{it}}.Tensor" for it in ("add", "sub", "mul", "div")}}
FUNCTIONAL["sum.IntList_out"] = "sum.dim_IntList"
called = []


def on_cpu(name):
    operator = named(FUNCTIONAL.get(name, name.removesuffix(".out")))

    def kernel(*args, out=None, **kwargs):
        called.append(name)
        host = [
            [y.cpu() for y in x] if isinstance(x, (list, tuple)) and name == "cat.out"
            else x.cpu() if isinstance(x, torch.Tensor) else x
            for x in args
        ]
        result = operator(*host, **kwargs)
        if out is None:
            return result.to("starter")
        if out.shape != result.shape:
            out.resize_(result.shape)
        return out.copy_(result)

    return kernel


library = torch.library.Library("aten", "IMPL")
for name in {registered!r}:
    library.impl(name, on_cpu(name), "PrivateUse1")
"""
NATIVE = """
print([name for name in {names!r} if is_native(named(name), "PrivateUse1")])
"""
CASE = """
try:
    out(Device("starter"))
    print(["passed", sorted(set(called))])
except Missing as error:
    print([str(error), []])
"""


def judged(registered, more):
    kit = str(package_of("torch_conformance").parent)
    program = PROGRAM.format(kit=kit, registered=registered) + more
    process = run_on_starter(install_starter(), program)
    assert process.returncode == 0, process.stderr
    return ast.literal_eval(process.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("registered", "native"),
    [
        ([], []),
        (["add.out", "mm.out"], ["add.Tensor", "add.out", "mm", "mm.out"]),
        (["add.Tensor", "mm"], ["add.Tensor", "mm"]),  # torch calls neither for `out`
        (["relu.out"], ["relu.out"]),
        (["relu"], ["relu", "relu.out"]),  # here the default of `out` is the caller
        (["abs.out"], ["abs", "abs.out"]),
    ],
)
def test_a_default_of_torch_counts_if_it_calls_a_kernel_of_the_device(
    registered, native
):
    assert judged(registered, NATIVE.format(names=OVERLOADS)) == native


STRUCTURED = ["add.out", "sub.out", "mul.out", "div.out", "exp.out", "mm.out"]
STRUCTURED += ["addmm.out", "cat.out", "sum.IntList_out"]


def test_the_overload_out_alone_is_enough():
    called = sorted(STRUCTURED)
    assert judged(STRUCTURED, CASE) == ["passed", called]


def test_a_functional_kernel_alone_leaves_out_on_the_cpu():
    said, _ = judged(["add.Tensor", "exp"], CASE)
    assert said == "no kernel for aten::add.out, aten::exp.out"


def test_a_fallback_for_both_is_no_difference():
    assert judged([], CASE) == ["passed", []]
