# What differs on another processor, as far as this one shows it; see docs/ship/arm.md.
"""The same bits from a seed, relaxed atomics with a reason, and headers that are C."""

import ctypes
import os
import re
import subprocess
from pathlib import Path

import pytest
import torch
from custom_build import COMPILER

OPENREG = Path(__file__).resolve().parents[2]
DRIVER = OPENREG / "third_party/openreg"
HEADERS = sorted((DRIVER / "include").glob("*.h"))

# -- The bits of a seed --

RANDOM = OPENREG / "csrc/kernels/cpu"
BUILD = (RANDOM / "build.cmake").read_text()
# Whether this processor can multiply and add at once, as each Arm processor can. An
# x86-64 processor has to be told: the compiler makes code for all of them.
FLAGS = next(
    (line for line in Path("/proc/cpuinfo").read_text().splitlines() if "fma" in line),
    "",
)
FUSES = {"fma", "avx2", "bmi2", "movbe"} <= set(FLAGS.split())
COUNT = 100_000


def options_of_the_build():
    """What build.cmake compiles the file with."""
    target = re.findall(r"^target_compile_options\(\w+ PRIVATE (.+)\)$", BUILD, re.M)
    (file,) = re.findall(
        r'BoxMuller.cpp PROPERTIES COMPILE_OPTIONS "(.+)"$', BUILD, re.M
    )
    return [*" ".join(target).split(), *file.split(";")]


def normal_numbers(folder, *options):
    """Compile the kernel's code with these options, and let it draw for seed 7."""
    headers = Path(torch.__file__).parent / "include"
    command = [*COMPILER, "-std=c++20", "-shared", "-fPIC", *options]
    command += ["-DAT_PER_OPERATOR_HEADERS", f"-I{OPENREG}", f"-isystem{headers}"]
    command += [f"-I{DRIVER / 'include'}", RANDOM / "BoxMuller.cpp", "-o"]
    library = folder / f"{len(list(folder.iterdir()))}.so"
    subprocess.run([*command, library], check=True)
    symbol = "_ZN7openreg3cpu10box_mullerEPKjlPf"
    words = torch.empty(COUNT // 2, dtype=torch.int64, device="openreg")
    words = words.random_(-(2**63), None, generator=seeded()).cpu()
    values = torch.empty(COUNT)
    getattr(ctypes.CDLL(str(library)), symbol)(
        ctypes.c_void_p(words.data_ptr()),
        ctypes.c_int64(COUNT),
        ctypes.c_void_p(values.data_ptr()),
    )
    return values


def seeded():
    return torch.Generator("openreg").manual_seed(7)


def drawn():
    return torch.empty(COUNT, device="openreg").normal_(generator=seeded()).cpu()


def test_a_processor_that_fuses_operations_gives_the_same_bits(tmp_path):
    newer = ["-march=x86-64-v3"] if FUSES else []
    assert torch.equal(normal_numbers(tmp_path, *options_of_the_build()), drawn())
    assert torch.equal(
        normal_numbers(tmp_path, *options_of_the_build(), *newer), drawn()
    )


def test_without_the_option_the_bits_would_differ(tmp_path):
    options = [it for it in options_of_the_build() if it != "-ffp-contract=off"]
    newer = ["-march=x86-64-v3"] if FUSES else []
    numbers = normal_numbers(tmp_path, *options, *newer)
    different = int((numbers != drawn()).sum())
    assert (different > 100) == FUSES
    torch.testing.assert_close(numbers, drawn(), rtol=1e-5, atol=1e-6)


# -- Headers for callers in C --

# GCC 14 refuses these in C, and older compilers warn at most.
ERRORS = ["implicit-function-declaration", "implicit-int", "int-conversion"]
ERRORS += ["incompatible-pointer-types"]
CALLER = """
#include "{header}"
#include "openreg.h"

orError_t fill(void* memory, size_t size, orStream_t stream);
orError_t fill(void* memory, size_t size, orStream_t stream) {{
  orError_t error = orMemsetAsync(memory, 0, size, stream);
  return error ? error : orMemcpyAsync(memory, memory, 0, orMemcpyDefault, stream);
}}
"""


def compile_c(header, include):
    command = ["cc", "-xc", "-", "-std=c11", "-fsyntax-only", "-Wall", "-Wextra"]
    command += ["-Werror", *(f"-Werror={name}" for name in ERRORS), f"-I{include}"]
    source = CALLER.format(header=header)
    english = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(
        command, input=source, capture_output=True, text=True, env=english
    )


@pytest.mark.parametrize("header", [path.name for path in HEADERS])
def test_a_program_in_c_can_include_a_header_of_the_driver(header):
    process = compile_c(header, DRIVER / "include")
    assert process.returncode == 0, process.stderr


def test_a_structure_that_is_declared_too_late_is_found(tmp_path):
    text = (DRIVER / "include/openreg.h").read_text()
    assert text.count("struct orStream;") == 1
    (tmp_path / "openreg.h").write_text(
        re.sub(r"^struct orStream;.*\n", "", text, flags=re.M)
    )
    process = compile_c("openreg.h", tmp_path)
    assert "'struct orStream' declared inside parameter list" in process.stderr


# -- Relaxed atomics --

REASON = re.compile(r"//.*(?:\brelaxed\b|has_passed\(\))", re.IGNORECASE)
NEAR = 9  # lines above


def relaxed_without_reason(text):
    lines = text.splitlines()
    for number, line in enumerate(lines):
        near = "\n".join(lines[max(0, number - NEAR) : number + 1])
        if "memory_order_relaxed" in line and not REASON.search(near):
            yield number + 1


@pytest.mark.parametrize("folder", [DRIVER / "csrc", OPENREG / "csrc"], ids=str)
def test_every_relaxed_access_has_its_reason(folder):
    """x86-64 orders most accesses by itself, so no test here finds a wrong one."""
    found = 0
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".h", ".cpp"):
            text = path.read_text()
            found += text.count("memory_order_relaxed")
            assert not list(relaxed_without_reason(text)), path
    assert found > 5


def test_one_without_a_reason_is_found():
    assert list(
        relaxed_without_reason("// why\nx.load(std::memory_order_relaxed);")
    ) == [2]
