# Cuts the large backend down to a stage of the ladder; see docs/start/ladder.md.
"""Which files each stage brings, and what the rest mentions of the files left out.

The stages before the first one are the starter. ``nox -s ladder`` builds every stage.
"""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path

FIRST, LAST = 4, 9
MODULE = "openreg/torch_openreg/openreg"
# Patterns below openreg/. The first that matches a file is of its stage, and what none
# matches comes with the first stage.
BROUGHT = [
    (
        9,
        [
            *("csrc/distributed/*", "csrc/runtime/ipc/*", "csrc/kernels/Symmetric*"),
            *("csrc/kernels/OneShot*", "csrc/kernels/SyncBatchNorm.cpp"),
            *("*/BindDistributed.h", "*/BindIpc.h", "*/_distributed.py"),
            *("*/BindFlightRecorder.h", "*/flight_recorder.py"),
            *("*/_sharding.py", "*/reductions.py", "*/_dynamo.py", "*/_inductor/*"),
        ],
    ),
    (8, ["csrc/profiler/*", "csrc/runtime/graph/*"]),
    (
        7,
        [
            *("csrc/amp/*", "*/openreg/amp.py", "csrc/kernels/Random*"),
            *("csrc/kernels/ValueCheck.*", "csrc/kernels/cpu/BoxMuller.*"),
        ],
    ),
    (
        6,
        [
            *(f"csrc/kernels/{name}.*" for name in ("Attention", "Convolution", "Rnn")),
            *("csrc/kernels/Transformer.cpp", "csrc/kernels/CosineSimilarity.cpp"),
            *("csrc/kernels/Sparse*", "csrc/kernels/cpu/Sparse*"),
            "csrc/kernels/cpu/LaunchAndWait.*",
            *("csrc/kernels/Quantized*", "csrc/kernels/FakeQuantize.cpp"),
            "csrc/kernels/cpu/RandomKernel.*",
        ],
    ),
    (5, ["csrc/kernels/*"]),
]
# The tests of a copy that need more than the first stage.
TESTS = {
    **dict.fromkeys(["lazy_clones", "registration", "threads", "stream_autograd"], 5),
    **dict.fromkeys(["autograd", "composite", "model_operators"], 6),
    **dict.fromkeys(["generator", "training", "value_operators"], 7),
    "graphs": 8,
}
INCLUDE = re.compile(r'^#include "((?:csrc|torch_openreg)/[^"]+)"\n', re.MULTILINE)
# A step of the registration that one file of the device module takes.
STEP = re.compile(r"^torch_openreg\.openreg\.(\w+)\._register\w*\(\)\n", re.MULTILINE)
# How the tests learn of the stage.
DECLARED = '"TEST_STAGE", "{}"'
# Packages and entry points of the last stage, and how the device module finds them.
COMPILER = [
    '        "torch_openreg._inductor",\n',
    '        "torch_dynamo_backends": [\n'
    '            "openreg = torch_openreg._dynamo:record_graphs",\n'
    "        ],\n",
    '        "torch.distributed.backends": [  # read by torch 2.14 and newer\n'
    '            "occl = torch_openreg.openreg._distributed:_register",\n'
    "        ],\n",
    "def _inductor_backend_init() -> None:\n"
    '    """Register with Inductor: torch 2.15 calls this before its first '
    'compilation."""\n'
    '    import_module("torch_openreg._inductor").register()\n\n\n',
    '        if name == "Scheduling":  # Inductor of torch 2.13 and 2.14 looks for it\n'
    "            _inductor_backend_init()\n",
    "from importlib import import_module\n",
]


def stage_of(path: str) -> int:
    """Return the stage that brings a file.

    Args:
        path: relative to the repository.
    """
    inside = path.removeprefix("openreg/")
    half = re.fullmatch(r"csrc/aten/host/(\w+)\.(?:cpp|h)", inside)
    if half:  # comes with the kernels that it calls
        inside = f"csrc/kernels/{half[1]}.cpp"
    test = re.fullmatch(r"tests/\w+/test_(\w+)\.py", inside)
    if test:
        return TESTS.get(test[1], FIRST)
    for stage, patterns in BROUGHT:
        if any(fnmatch(inside, pattern) for pattern in patterns):
            return stage
    return FIRST


def cut(path: str, text: str, kept: dict[str, str], stage: int) -> str:
    """Return a file without what it mentions of files that a later stage brings.

    Args:
        kept: the texts of all files of the stage, by their paths.
    """
    name = Path(path).name
    if path == "openreg/tests/support/backend.py":
        return text.replace(DECLARED.format(LAST), DECLARED.format(stage))
    own = path in ("setup.py", f"{MODULE}/__init__.py")
    if own and "openreg/torch_openreg/_dynamo.py" not in kept:
        for piece in COMPILER:
            text = text.replace(piece, "")
    if name == "_load.py":
        text = STEP.sub(
            lambda found: found[0] if f"{MODULE}/{found[1]}.py" in kept else "", text
        )
    elif name == "Module.cpp":
        text = _without_bindings(text, kept)
    elif path == f"{MODULE}/__init__.py":
        text = _without_imports(text, kept)
    return text


def _without_bindings(text: str, kept: dict[str, str]) -> str:
    """Leave out the bindings whose header is not there."""
    for header in INCLUDE.findall(text):
        if f"openreg/{header}" not in kept:
            part = re.sub(r"(?<!^)(?=[A-Z])", "_", Path(header).stem).lower()
            text = text.replace(f'#include "{header}"\n', "")
            text = re.sub(rf" +openreg::{part}\(m\);\n", "", text)
    return text


def _without_imports(text: str, kept: dict[str, str]) -> str:
    """Leave out what the device module imports from files that are not there."""
    single = re.compile(r"^from \.(\w+) import (?:\(([^)]*)\)|(.*))\n", re.MULTILINE)
    for found in list(single.finditer(text)):
        if f"{MODULE}/{found[1]}.py" in kept:
            continue
        text = text.replace(found[0], "")
        for name in re.findall(r"\w+", found[2] or found[3]):
            text = text.replace(f'    "{name}",\n', "")
    modules = re.compile(r"^    (_?\w+),\n", re.MULTILINE)
    first = re.search(r"^from \. import \([^)]*\)\n", text, re.MULTILINE)
    if first is not None:
        there = modules.sub(
            lambda one: one[0] if f"{MODULE}/{one[1]}.py" in kept else "", first[0]
        )
        text = text.replace(first[0], there)
    return text
