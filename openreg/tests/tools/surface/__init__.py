# Collects the extension points of one torch; see docs/ship/upgrading.md.
"""Nothing here imports torch: it reads the files of an installed package or a wheel."""

import ast
import contextlib
import re
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from module_lookups import Lookups

from . import cpp, operators, python, requirements

Surface = dict[str, dict[str, str]]

# Classes that a backend derives from, wherever their header lies in a release.
CPP_CLASSES = {
    *("DeviceGuardImplInterface", "AcceleratorHooksInterface"),
    *("PrivateUse1HooksInterface", "Allocator", "DeviceAllocator", "HostAllocator"),
    *("CachingHostAllocatorImpl", "CachingHostAllocatorInterface", "GeneratorImpl"),
    *("GraphImplInterface", "ProfilerStubs", "IActivityProfiler"),
    *("IActivityProfilerSession", "Backend", "Work", "SymmetricMemory"),
    *("SymmetricMemoryAllocator", "TensorImpl", "StorageImpl"),
}
ENUMS = {"DispatchKey", "BackendComponent", "DeviceType", "ActivityType"}
PYTHON_CLASSES = {
    *("DeviceInterface", "DeviceOpOverrides", "BaseScheduling"),
    *("PythonWrapperCodegen", "PrivateUse1TestBase", "DeviceTypeTestBase"),
    *("Generator", "_SymmetricMemory"),
}
DTYPES = re.compile(r"\b_\(([^(),]+), (\w+)\)")
OPERATORS = "torchgen/packaged/ATen/native/native_functions.yaml"
READ = re.compile(r".+\.(py|h|hpp|yaml)|torch-[^/]+/METADATA")


def collect(torch: Path) -> Surface:
    """Return what the package in this folder offers, by kind, then by name."""
    found: Surface = {
        "requirements": requirements.requirements(torch),
        "headers": requirements.headers(torch),
        "virtual functions": {},
        "enumerators": {},
        "dtypes": {},
        "C++ macros": {},
        "C++ functions that register": {},
    }
    _read_headers(torch / "include", found)
    yaml = torch.parent / OPERATORS
    found["operators"] = operators.operators(yaml.read_text()) if yaml.is_file() else {}
    found["entry points"] = {}
    found["Python functions that register"] = {}
    found["Python classes"] = {}
    found["torch.accelerator"] = {}
    _read_python(torch, found)
    lookups = Lookups(torch).found
    found["lookups in the device module"] = {
        name: ", ".join(sorted({place.partition(":")[0] for place in places}))
        for name, places in lookups.items()
    }
    return found


def _read_headers(include: Path, found: Surface) -> None:
    heads = re.compile(rf"\b(?:{'|'.join(CPP_CLASSES)})\b[^;{{}}()]*\{{")
    for path in sorted(include.rglob("*.h*")):
        if path.parent.name == "ops":
            continue  # thousands of files, generated from native_functions.yaml
        text = path.read_text(encoding="utf-8", errors="replace")
        if "virtual" in text and heads.search(text):
            found["virtual functions"] |= cpp.virtuals(text, CPP_CLASSES)
        if "enum" in text and any(name in text for name in ENUMS):
            found["enumerators"] |= cpp.enumerators(text, ENUMS)
        if path.name == "DispatchKey.h":
            found["enumerators"] |= cpp.lists(text)
        if path.name == "ScalarType.h":
            found["dtypes"] |= {name: kind for kind, name in DTYPES.findall(text)}
        if "#define" in text:
            found["C++ macros"] |= cpp.macros(text)
        if "_API" in text and re.search(r"\b(?:(?i:register)|[Ss]et)\w*\(", text):
            found["C++ functions that register"] |= cpp.register_functions(text)


def _read_python(torch: Path, found: Surface) -> None:
    interesting = re.compile(
        r"entry_points|def _?register_|class (" + "|".join(PYTHON_CLASSES) + r")\b"
    )
    for path in sorted(torch.rglob("*.py")):
        file = path.relative_to(torch.parent).as_posix()
        offered = file.startswith("torch/accelerator/")
        text = path.read_text(encoding="utf-8", errors="replace")
        if not (offered or interesting.search(text)):
            continue
        tree = ast.parse(text)
        if "entry_points(" in text:
            found["entry points"] |= python.entry_points(tree, file)
        registering = python.register_functions(tree, file)
        found["Python functions that register"] |= registering
        found["Python classes"] |= python.methods(tree, PYTHON_CLASSES)
        if offered:
            found["torch.accelerator"] |= python.public_functions(tree, file)


@contextlib.contextmanager
def opened(where: Path) -> Iterator[Path]:
    """Give the folder of a torch: of an environment, of a package, or of a wheel.

    Raises:
        FileNotFoundError: there is no torch.
    """
    if where.suffix == ".whl":
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(where) as wheel:
            names = [name for name in wheel.namelist() if READ.fullmatch(name)]
            wheel.extractall(folder, names)
            yield Path(folder) / "torch"
        return
    inside = sorted(where.glob("lib/python3*/site-packages/torch"))
    for folder in (where, where / "torch", *inside):
        if (folder / "version.py").is_file():
            yield folder
            return
    raise FileNotFoundError(f"{where} is neither a torch, an environment nor a wheel")


def version_of(torch: Path) -> str:
    """Return the release without its build, as it stands in ``version.py``."""
    text = (torch / "version.py").read_text()
    match = re.search(r"__version__ = ['\"]([^'\"+]+)", text)
    return match[1] if match else "unknown"
