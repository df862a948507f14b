# The conformance kit installs without a backend; see docs/ship/conformance.md.
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from import_cycles import cycle
from starter_build import HIDDEN

ROOT = Path(__file__).resolve().parents[3]
PACKAGES = [
    "openreg/cloning",
    "openreg/conformance/torch_conformance",
    "openreg/torch_openreg_compare",
    "openreg/torch_openreg_diagnose",
    "tests/nox_support",
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A folder in which pip has installed the kit and nothing else."""
    folder = tmp_path_factory.mktemp("kit")
    ignored = shutil.ignore_patterns("build", "*.egg-info", "__pycache__")
    source = shutil.copytree(
        ROOT / "openreg/conformance", folder / "in", ignore=ignored
    )
    command = [sys.executable, "-m", "pip", "install", "--no-build-isolation"]
    command += ["--no-index", "--quiet", "--target", folder / "site", source]
    subprocess.run(command, check=True)
    return folder / "site"


def kit(site, *arguments, options=(), without=()):
    """Run the installed kit; ``without`` are folders that hide packages."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (site, *without)))}
    command = [sys.executable, "-P", *options, "-m", "torch_conformance", *arguments]
    return subprocess.run(command, env=env, capture_output=True, text=True)


def test_it_has_every_module_and_needs_no_other_package(site):
    source = ROOT / "openreg/conformance/torch_conformance"
    modules = {path.relative_to(source) for path in source.rglob("*.py")}
    installed = site / "torch_conformance"
    assert {path.relative_to(installed) for path in installed.rglob("*.py")} == modules
    assert (installed / "py.typed").exists()
    assert [path.name for path in site.iterdir() if path.suffix != ".dist-info"] == [
        "torch_conformance"
    ]


def test_it_judges_a_device_where_no_backend_is(site):
    words = ["--device", "cpu", "--level", "0..3", "-k", "name", "-k", "every_byte"]
    process = kit(site, *words, without=[HIDDEN])
    assert "readiness of cpu: 100 %" in process.stdout, process.stderr


def test_without_torch_it_says_what_is_missing(site):
    process = kit(site, "--device", "cpu", options=["-S"])
    assert process.returncode == 2
    assert "PyTorch is missing: install the release that your" in process.stderr


@pytest.mark.parametrize("package", PACKAGES)
def test_no_modules_import_each_other_in_a_circle(package):
    assert cycle(ROOT / package) == []


@pytest.mark.parametrize(
    "text",
    [
        "from package import a",
        "from package.a import something",
        "from . import a",
        "from .a import something",
        "import package.a",
        "def late():\n    import package.a",
        "if TYPE_CHECKING:\n    from package.inner import c",
    ],
)
def test_a_circle_is_found_however_it_is_imported(tmp_path, text):
    package = tmp_path / "package"
    (package / "inner").mkdir(parents=True)
    sources = {"__init__": "from package import a", "a": "from package.b import x"}
    sources |= {"b": text, "inner/__init__": "", "inner/c": "from ..a import y"}
    for name, source in sources.items():
        (package / f"{name}.py").write_text(source)
    assert {"package.a", "package.b"} <= set(cycle(package))
    (package / "b.py").write_text("import package_of_others\n")
    assert cycle(package) == []
