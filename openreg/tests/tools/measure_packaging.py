# Measures the strategies of packaging: size, build time; see docs/ship/packaging.md.
"""python openreg/tests/tools/measure_packaging.py [--only STRATEGY]

Run it with the Python of the `tests` environment: each build starts from nothing, which
takes minutes. The wheel for several releases needs an environment for each further
release; `nox -s tests-on -- 2.14.1 smoke` makes one. A strategy replaces its row in
openreg/tests/tools/packaging.json, and the guide shows all rows.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
sys.path.append(str(Path(__file__).resolve().parents[2]))

from merge_wheels import merge
from sweep.last_run import current_commit

ROOT = Path(__file__).resolve().parents[3]
RECORD = Path(__file__).with_name("packaging.json")
# What a build reads.
SOURCES = [
    *("CMakeLists.txt", "LICENSE", "README.md", "cmake", "pyproject.toml", "setup.py"),
    *("openreg/csrc", "openreg/third_party"),
    *("openreg/torch_openreg", "openreg/torch_openreg_compare"),
    "openreg/torch_openreg_diagnose",
]
MINOR = f"3.{sys.version_info.minor}"
OFFLINE = ["--no-build-isolation", "--no-deps", "--no-index", "--quiet"]


def pack(folder: Path) -> Path:
    """Write the committed sources as an archive that pip can install."""
    archive = folder / "torch_openreg.tar.gz"
    command = ["git", "archive", "--prefix=torch_openreg/", "-o", str(archive), "HEAD"]
    subprocess.run([*command, *SOURCES], cwd=ROOT, check=True)
    return archive


def pip(python: Path, *arguments: str) -> None:
    """Run pip where it finds the programs beside a Python first."""
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    env.pop("PYTHONPATH", None)
    subprocess.run([str(python), "-m", "pip", *arguments], env=env, check=True)


def build(python: Path, folder: Path) -> Path:
    """Build a wheel; pip unpacks the sources where no build left anything."""
    folder.mkdir(parents=True)
    pip(python, "wheel", *OFFLINE, "-w", str(folder), str(pack(folder)))
    return next(folder.glob("*.whl"))


def one_release(folder: Path) -> Path:
    return build(Path(sys.executable), folder / "one")


def several_releases(folder: Path) -> Path:
    """Build for this release and for each that has an environment, and merge."""
    others = sorted((ROOT / ".nox").glob(f"tests-on-2.*-{MINOR}/bin/python"))
    if not others:
        sys.exit("no environment of another release: nox -s tests-on -- 2.14.1 smoke")
    pythons = [Path(sys.executable), *others]
    wheels = [build(it, folder / str(index)) for index, it in enumerate(pythons)]
    return merge(wheels, folder / "merged")


def stable_abi(folder: Path) -> Path:
    """Compile the custom operator of the guide, and pack it as a wheel is packed."""
    from custom_build import compile_stable_into

    library = folder / "softcap_stable.so"
    compile_stable_into(library)
    archive = library.with_suffix(".whl")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.write(library, library.name)
    return archive


def from_sources(folder: Path) -> Path:
    archive = pack(folder)
    target = str(folder / "site")
    pip(Path(sys.executable), "install", *OFFLINE, "--target", target, str(archive))
    return archive


STRATEGIES: dict[str, Callable[[Path], Path]] = {
    "one release": one_release,
    "several releases": several_releases,
    "stable ABI": stable_abi,
    "sources": from_sources,
}


def measure(strategy: Callable[[Path], Path]) -> dict[str, Any]:
    """Return the size of what users download, and the time that its build took."""
    with tempfile.TemporaryDirectory() as folder:
        start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        made = strategy(Path(folder))
        seconds = time.monotonic() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        megabytes = round(made.stat().st_size / 1e6, 2)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"MB": megabytes, "seconds": round(seconds, 1), "cpu": round(spent, 1)}


def record(name: str, row: dict[str, Any], commit: str, file: Path = RECORD) -> None:
    """Replace the row of a strategy; the others keep their date and commit."""
    found = json.loads(file.read_text()) if file.exists() else {}
    about = {"cores": os.cpu_count(), "date": datetime.date.today().isoformat()}
    found[name] = {**row, **about, "commit": commit}
    ordered = {name: found[name] for name in STRATEGIES if name in found}
    file.write_text(json.dumps(ordered, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", action="append", choices=STRATEGIES)
    options = parser.parse_args()
    commit = current_commit()  # before the record changes
    for name in options.only or STRATEGIES:
        row = measure(STRATEGIES[name])
        record(name, row, commit)
        print(f"{name}: {row['MB']} MB, {row['seconds']} s, {row['cpu']} s of CPU")


if __name__ == "__main__":
    main()
