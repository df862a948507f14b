# Reports what is installed, what works and what is wrong; see docs/ship/diagnose.md.
"""``python -m torch_openreg_diagnose [--json]``, for you and for a bug report.

With ``--explain MESSAGE`` it explains an error, see ``_explain.py``.

This package imports neither torch nor ``torch_openreg``: it must also report where
they do not load. A second process tries to load them, see ``_probe.py``. The exit
status is 1 if something is wrong.
"""

import argparse
import json
import os
import platform
import re
import runpy
import sys
import sysconfig
from importlib.metadata import PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from torch_openreg_diagnose._child import SECONDS, run_probe
from torch_openreg_diagnose._explain import show as show_explained

NAME = "torch_openreg"
LIBRARIES = ("libtorch_bindings.so", "libtorch_openreg.so", "libopenreg.so")
VARIABLES = ("TORCH_", "PYTORCH_", "OPENREG_", "LD_", "PYTHON")  # how they begin
AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
# Where it waits: Python prints its stack when the signal arrives.
WHERE = (
    "see where it waits: timeout -s ABRT 30 python -X faulthandler -c "
    "'import torch, torch_openreg'"
)
REINSTALL = (
    "reinstall it: pip install --no-build-isolation --force-reinstall --no-deps ."
)
Report = dict[str, Any]


def collect(seconds: float = SECONDS) -> Report:
    """Return everything that is printed, as what JSON can hold.

    Args:
        seconds: that loading may take.
    """
    damaged: dict[str, str] = {}
    report: Report = {
        "versions": _versions(damaged),
        "build": _build(damaged),
        "damaged": damaged,
        "files": _files(),
        "autoload": _autoload(),
        "environment": {
            name: value
            for name, value in sorted(os.environ.items())
            if name.startswith(VARIABLES)
        },
    }
    report |= run_probe(seconds)
    report["problems"] = _problems(report)
    return report


def _versions(damaged: dict[str, str]) -> Report:
    return {
        NAME: _version(NAME),
        "torch": _torch_version(damaged),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "glibc": " ".join(platform.libc_ver()),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _package() -> Path | None:
    """Return the folder that ``import torch_openreg`` would use, without importing."""
    spec = find_spec(NAME)
    folders = (spec and spec.submodule_search_locations) or []
    return next((Path(folder).resolve() for folder in folders), None)


# LITERALINCLUDE START: DIAGNOSE_TORCH_VERSION
def _torch_version(damaged: dict[str, str]) -> str | None:
    """Return ``torch.__version__``, also where torch cannot be imported.

    The metadata of a wheel from a package index omit the local part: a CUDA build with
    ``__version__`` 2.13.0+cu130 is called 2.13.0 there. torch/version.py imports
    nothing of torch, and the search for a top-level package does not import it.
    """
    spec = find_spec("torch")
    file = Path(spec.origin).with_name("version.py") if spec and spec.origin else None
    if file is None or not file.is_file():
        return _version("torch")
    found = _constants(file, "__version__", damaged)
    return str(found["__version__"]) if found else _version("torch")


# LITERALINCLUDE END: DIAGNOSE_TORCH_VERSION
def _constants(file: Path, needed: str, damaged: dict[str, str]) -> Report:
    """Return what a file of Python defines; note in `damaged` why it does not."""
    try:
        found = runpy.run_path(str(file))
    except Exception as error:  # a part of a file can raise anything
        damaged[str(file)] = f"{type(error).__name__}: {error}"
        return {}
    if not isinstance(found.get(needed), str):
        damaged[str(file)] = f"it has no {needed}"
        return {}
    return found


def _build(damaged: dict[str, str]) -> Report:
    package = _package()
    if package is None or not (package / "_build_info.py").is_file():
        return {}
    # By its path: an import of torch_openreg._build_info would import torch_openreg.
    constants = _constants(package / "_build_info.py", "TORCH_VERSION", damaged)
    return {name.lower(): value for name, value in constants.items() if name.isupper()}


def _files() -> dict[str, Report]:
    package = _package()
    if package is None:
        return {}
    extension = f"_C{sysconfig.get_config_var('EXT_SUFFIX')}"
    paths = [package / extension, *(package / "lib" / name for name in LIBRARIES)]
    return {
        path.name: {
            "path": str(path),
            "bytes": path.stat().st_size if path.is_file() else None,
        }
        for path in paths
    }


def _autoload() -> Report:
    found = {point.name: point.value for point in entry_points(group="torch.backends")}
    setting = os.environ.get(AUTOLOAD)
    return {
        "entry_points": found,
        "found": any(value.startswith(f"{NAME}:") for value in found.values()),
        "enabled": setting in (None, "1"),
    }


def _problems(report: Report) -> list[dict[str, str]]:
    """What is wrong, and what to do about it, the cause before the consequence."""
    found: list[tuple[str, str]] = []
    versions, built = versions_of(report)
    install = f"pip install torch=={built or '2.13.*'}"
    for file, reason in report["damaged"].items():
        of_torch = file.endswith("version.py")
        remedy = f"reinstall torch: {install} --force-reinstall --no-deps"
        found.append(
            (f"{file} is damaged: {reason}", remedy if of_torch else REINSTALL)
        )
    damaged = {Path(file).name for file in report["damaged"]}
    if versions is None and "version.py" not in damaged:
        found.append(("torch is not installed", install))
    if not report["files"]:
        found.append((f"{NAME} is not installed", "install it with pip"))
    elif built is None and "_build_info.py" not in damaged:
        found.append(
            ("_build_info.py is missing: this is a folder of sources", REINSTALL)
        )
    elif versions and built and versions.split(".")[:2] != built.split(".")[:2]:
        found.append(
            (
                f"torch_openreg was built for torch {built}, but torch {versions} is "
                "installed",
                f"install torch {built.split('+')[0]}, or {REINSTALL}",
            )
        )
    for name, file in report["files"].items():
        if file["bytes"] is None:
            what = f"{name} is missing: {file['path']}"
            if name.startswith("_C"):
                what += "; another Python may have built it"
            found.append((what, REINSTALL))
    autoload = report["autoload"]
    if not autoload["found"]:
        found.append(
            (
                "no entry point torch.backends names torch_openreg",
                "install the package with pip: a folder on PYTHONPATH has none",
            )
        )
    if not autoload["enabled"]:
        setting = os.environ[AUTOLOAD]
        found.append(
            (
                f"{AUTOLOAD} is {setting!r}: import torch loads no backend",
                "unset it, or import torch_openreg after torch",
            )
        )
    others = len(autoload["entry_points"]) - autoload["found"]
    if not report["loaded"] and others:
        found.append(
            (
                "other packages also load backends, and there is one PrivateUse1",
                "install one backend in an environment",
            )
        )
    if not report["loaded"] and not found:
        remedy = f"if that names a file of this package, {REINSTALL}"
        if report.get("hung"):
            remedy = WHERE
        found.append((f"it does not load: {report['error']}", remedy))
    elif report["loaded"] and not report["devices"]:
        found.append(
            (f"there is no device: {report['error']}", 'see "Errors" in the guide')
        )
    return [{"problem": what, "remedy": remedy} for what, remedy in found]


def versions_of(report: Report) -> tuple[str | None, str | None]:
    """Return the version of the installed torch, and that of the build."""
    return report["versions"]["torch"], report["build"].get("torch_version")


def show(report: Report) -> str:
    """Return the report for people to read."""
    lines: list[str] = []

    def part(title: str, rows: dict[str, Any]) -> None:
        lines.append(f"{title}:")
        width = max((len(name) for name in rows), default=0)
        lines.extend(f"  {name:{width}}  {value}" for name, value in rows.items())

    part("versions", report["versions"])
    part("build", report["build"])
    files = report["files"]
    part(
        "files",
        {
            name: f"{file['path']}, "
            + (f"{file['bytes']} bytes" if file["bytes"] else "missing")
            for name, file in files.items()
        },
    )
    autoload = dict(report["autoload"])
    points = autoload.pop("entry_points")
    part("autoload", {**autoload, "entry points": ", ".join(points.values()) or "none"})
    part("environment", report["environment"] or {"none of those that matter": ""})
    if report["loaded"]:
        part("torch", report["torch"])
        part("devices", report["devices"])
        part("registered", report["registered"])
        part("missing", report["missing"])
        part("fallback", report["fallback"])
    if not report["problems"]:
        lines.append("no problem found")
    for problem in report["problems"]:
        lines += [
            f"problem: {problem['problem']}",
            f"  what to do: {problem['remedy']}",
        ]
    if report["error"]:
        lines.append(f"the last error: {report['error']}")
    return "\n".join(line.rstrip() for line in lines)


def _seconds(text: str) -> float:
    if not re.fullmatch(r"\d{1,6}(\.\d+)?", text) or float(text) == 0:
        raise argparse.ArgumentTypeError(
            f"expected a number of seconds above 0, got {text}"
        )
    return float(text)


def main(arguments: list[str] | None = None) -> int:
    """Print the report; return 1 if there is a problem."""
    parser = argparse.ArgumentParser(prog="python -m torch_openreg_diagnose")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--explain", metavar="MESSAGE", help="explain an error message")
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=SECONDS,
        metavar="SECONDS",
        help=f"time limit for loading the backend; default: {SECONDS:g}",
    )
    options = parser.parse_args(arguments)
    if options.explain is not None:
        return _explain(options.explain)
    report = collect(options.timeout)
    _print(json.dumps(report, indent=2) if options.json else show(report))
    return 1 if report["problems"] else 0


def _print(text: str) -> None:
    """Print a text also where the encoding of the output lacks a letter of it."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))


def _explain(message: str) -> int:
    """Print what the error index has on a message; return 1 if that is nothing."""
    known = show_explained(message)
    _print(known or 'the index has no such message: see "Debugging" in the guide')
    return 0 if known else 1
