# Copies the large backend under another name; see docs/ship/make-it-yours.md.
"""What the copy contains, and what it changes besides names."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from cloning.spelling import SIMULATED, Spelling, without_guide
from cloning.stages import cut, stage_of

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ["cmake", "openreg/csrc", "openreg/torch_openreg"]
FILES = ["CMakeLists.txt", "LICENSE", "pyproject.toml", "setup.py"]
KINDS = {".c", ".cmake", ".cpp", ".h", ".in", ".map", ".md", ".py", ".pyi", ".txt"}
KINDS |= {".typed"}
BUILT = {"__pycache__", "build", "include", "lib", "share", "_build_info.py"}
CONFTEST = "conftest.py"
# They need neither the guide's pages nor the simulator.
TESTS = [
    *("device_arguments", "generator", "lazy_clones", "memory", "stream_autograd"),
    *("threads", "autograd", "composite", "fallback", "minimal", "model_operators"),
    *("registration", "training", "value_operators", "graphs"),
]
# What the copy lacks: each text occurs once in its file.
EDITS: dict[str, list[tuple[str, str]]] = {
    "setup.py": [
        ('ROOT / "openreg" / "torch_openreg"', 'ROOT / "torch_openreg"'),
        ('        "torch_openreg_compare",\n', ""),
        ('        "torch_openreg_diagnose",\n', ""),
        (
            '        "torch_openreg_compare": "openreg/torch_openreg_compare",\n',
            "",
        ),
        ('        "torch_openreg_compare": ["py.typed"],\n', ""),
        (
            '        "torch_openreg_diagnose": "openreg/torch_openreg_diagnose",\n',
            "",
        ),
        ('        "torch_openreg_diagnose": ["py.typed", "*.json"],\n', ""),
    ],
    "pyproject.toml": [
        (" and settings of the development tools", ""),
        (" for a simulated accelerator, and the guide that explains it", ""),
        ('readme = "README.md"', 'readme = "CLONING.md"'),
        ("# nox -s tests\n", ""),
        (', "tests"]\npythonpath', "]\npythonpath"),
        ("; tests-on -- cuda smoke runs it", ""),
    ],
    "cmake/FindInstalledTorch.cmake": [("requirements/torch.txt", "pyproject.toml")],
    "openreg/csrc/README.md": [
        (
            "The guide's page\n[Architecture](../../docs/start/architecture.md) "
            "explains how the rooms fit together.",
            "",
        )
    ],
    "CMakeLists.txt": [(", as .ci/run and nox -s lint do", "")],
    "openreg/third_party/openreg/CMakeLists.txt": [
        (", as .ci/run and nox -s lint do", "")
    ],
    "openreg/tests/conftest.py": [
        (
            'collect_ignore = ["clients"]  '
            "# what they import is in the environment of nox -s clients\n",
            "",
        ),
    ],
    "openreg/csrc/CMakeLists.txt": [
        ("; the folders are explained in openreg/csrc/README.md", "")
    ],
}
SIMULATOR = "openreg/torch_openreg/simulator.py"
# What a copy with its own driver lacks.
OWN_DRIVER = {
    "openreg/torch_openreg/openreg/__init__.py": [
        ("from torch_openreg import _C, simulator\n", "from torch_openreg import _C\n"),
        ('    "simulator",\n', ""),
    ],
}
# In a copy they are at the top.
FOLDERS_HERE = re.compile(r"\bopenreg/(csrc|torch_openreg|tests|third_party)\b")
CUT = "\n# nox -s coverage\n"  # of pyproject.toml: the rest is for the guide's tools
FOLDERS_OF_TESTS = re.compile(r"^pythonpath = \[\n(?: .*\n)+\]$", re.MULTILINE)


def sources() -> list[Path]:
    """The files of the backend, relative to the repository."""
    found = [Path(name) for name in FILES]
    for folder in FOLDERS:
        found += [
            path.relative_to(ROOT)
            for path in sorted((ROOT / folder).rglob("*"))
            if path.suffix in KINDS and not BUILT & set(path.relative_to(ROOT).parts)
        ]
    return found + tests()


def tests() -> list[Path]:
    """The tests of the copy, and what they import or compile."""
    return closure([CONFTEST, *(f"*/test_{name}.py" for name in TESTS)], edited)


def closure(patterns: list[str], text_of: Callable[[Path], str]) -> list[Path]:
    """Tests and what they import or compile, relative to the repository.

    Args:
        patterns: of the first ones, below the folder of the tests.
        text_of: what the copy of such a file says, before its names are changed.
    """
    folder = ROOT / "openreg/tests"
    left = [path for pattern in patterns for path in folder.glob(pattern)]
    found: set[Path] = set()
    while left:
        path = left.pop()
        if path in found or not path.is_file():
            continue
        found.add(path)
        text = text_of(path.relative_to(ROOT))
        modules = re.findall(r"^ *(?:from|import) (\w+)", text, re.MULTILINE)
        left += [folder / "support" / f"{module}.py" for module in modules]
        compiled = re.findall(r'compile_cpp\("(\w+)"', text)
        left += [folder / "cpp" / f"{name}.cpp" for name in compiled]
    return sorted(path.relative_to(ROOT) for path in found)


def edited(path: Path) -> str:
    """A source without what only the guide needs."""
    text = replaced(path, (ROOT / path).read_text(encoding="utf-8"), EDITS)
    if path.name == "pyproject.toml":
        text = text.partition(CUT)[0]
        text = FOLDERS_OF_TESTS.sub('pythonpath = ["openreg/tests/support"]', text)
    return text if path.name == "LICENSE" else without_guide(text)


def replaced(path: Path, text: str, edits: dict[str, list[tuple[str, str]]]) -> str:
    """The text with the edits of its file."""
    for old, new in edits.get(str(path), []):
        if text.count(old) != 1:
            raise ValueError(
                f"{path}: expected {old!r} once, found it {text.count(old)} times"
            )
        text = text.replace(old, new)
    return text


def full_texts(spelling: Spelling, stage: int) -> dict[str, str]:
    """The files of the backend at a stage of the ladder: their paths and texts."""
    manual = f"in the manual of {spelling.name}"  # which errors name
    files = {path: edited(path) for path in sources() if stage_of(str(path)) <= stage}
    if spelling.driver != SIMULATED:
        files = {path: text for path, text in files.items() if not simulated(path)}
        for name, edits in OWN_DRIVER.items():
            files[Path(name)] = replaced(Path(name), files[Path(name)], {name: edits})
    kept = {str(path): text for path, text in files.items()}
    texts = {}
    for path, whole in files.items():
        text = FOLDERS_HERE.sub(r"\1", cut(str(path), whole, kept, stage))
        if path.name != "LICENSE":
            text = spelling.renamed(text, str(path)).replace("in the guide", manual)
        texts[spelling.renamed(inside(path), "")] = text
    return texts


def inside(path: Path) -> str:
    """Where a file of the repository is in a copy."""
    return str(path).removeprefix("openreg/")


def simulated(path: Path) -> bool:
    """Whether a file is only for the simulated device: its kernels would run on the
    host. Their headers say what each does, and what calls a kernel needs them."""
    if str(path) == SIMULATOR:
        return True
    folder = str(path).startswith("openreg/csrc/kernels/")
    return folder and (path.suffix != ".h" or path.parent.name == "cpu")
