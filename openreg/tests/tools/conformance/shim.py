# Runs programs behind a driver with faults; see docs/ship/conformance.md.
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TOOLS = Path(__file__).resolve().parents[1]


def build_shim(folder: Path) -> Path:
    """Compile the driver with faults."""
    spec = find_spec("torch_openreg")
    assert spec and spec.submodule_search_locations, "torch_openreg is not installed"
    driver = TOOLS.parents[1] / "third_party/openreg"
    library = folder / "shim.so"
    compiler = os.environ.get("CC", "cc")
    command = [compiler, "-shared", "-fPIC", "-O1", "-Wall", f"-I{driver}"]
    command += [str(TOOLS / "conformance/shim.c"), "-o", str(library), "-ldl"]
    subprocess.run(command, check=True)
    return library


def run_behind_shim(program: str, *arguments: str) -> Any:
    """Run a program of the tools; return the JSON in the last line that it prints."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**os.environ, "LD_PRELOAD": str(build_shim(Path(folder)))}
        command = [sys.executable, program, *arguments]
        process = subprocess.run(command, env=env, stdout=subprocess.PIPE, check=True)
    return json.loads(process.stdout.splitlines()[-1])
