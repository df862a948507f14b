# Builds the package, declares the entry point; see docs/frontend/autoload.md.
import hashlib
import os
import shlex
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent
PACKAGE = ROOT / "openreg" / "torch_openreg"
(ROOT / "build").mkdir(exist_ok=True)  # pyproject.toml puts the metadata there


# LITERALINCLUDE START: TORCH_OF_THIS_BUILD
def torch_of_this_build() -> list[str]:
    """What a wheel depends on: one build fits one minor release of torch."""
    try:
        major, minor = map(int, version("torch").split(".")[:2])
    except PackageNotFoundError:
        return ["torch"]  # CMake stops the build, and shows how to install torch
    return [f"torch>={major}.{minor},<{major}.{minor + 1}"]


# LITERALINCLUDE END: TORCH_OF_THIS_BUILD


def build_folder() -> Path:
    """Where CMake builds for this Python and its torch, which is not imported.

    CMake refuses a build folder that was copied, so a copied clone has another one.
    """
    torch = find_spec("torch")
    home = os.path.realpath(torch.origin) if torch and torch.origin else "none"
    key = hashlib.sha256(f"{ROOT}\0{home}".encode()).hexdigest()[:8]
    return ROOT / "build" / f"cmake-{sys.implementation.cache_tag}-{key}"


class CMakeBuild(build_ext):
    """Runs CMake once, which puts four shared objects into the package.

    CMAKE_ARGS in the environment holds more arguments for CMake. Each torch has a build
    folder. If a wheel makes it, several files are compiled as one: in less time, but a
    change of one file compiles all of them.
    """

    def run(self) -> None:
        in_place = self.inplace or self.editable_mode
        package = PACKAGE if in_place else Path(self.build_lib).resolve() / PACKAGE.name
        build = build_folder()
        for tool in ("cmake", "ninja"):
            if shutil.which(tool) is None:
                raise SystemExit(f"torch_openreg: install {tool}: it is not on PATH")
        configure = ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja"]
        configure += [f"-DPython_EXECUTABLE={sys.executable}"]
        configure += [f"-DCMAKE_INSTALL_PREFIX={package}", "-DCMAKE_BUILD_TYPE=Release"]
        if not (in_place or (build / "CMakeCache.txt").exists()):
            configure += ["-DCMAKE_UNITY_BUILD=ON"]
            configure += ["-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG"]
        configure += shlex.split(os.environ.get("CMAKE_ARGS", ""))
        jobs = os.environ.get("MAX_JOBS") or str(os.cpu_count())
        try:
            subprocess.run(configure, check=True)
            build_command = ["cmake", "--build", build, "--parallel", jobs]
            subprocess.run(build_command, check=True)
            subprocess.run(["cmake", "--install", build], check=True)
        except subprocess.CalledProcessError as error:
            message = f"torch_openreg: {error.cmd[0]} failed, see above"
            raise SystemExit(message) from None


# VENDOR: name your packages; without the first entry point, programs import the backend
setup(
    packages=[
        "torch_openreg",
        "torch_openreg._inductor",
        "torch_openreg.openreg",
        "torch_openreg_compare",
        "torch_openreg_diagnose",
    ],
    package_dir={
        "torch_openreg": "openreg/torch_openreg",
        "torch_openreg_compare": "openreg/torch_openreg_compare",
        "torch_openreg_diagnose": "openreg/torch_openreg_diagnose",
    },
    package_data={
        "torch_openreg": ["lib/*.so", "py.typed", "*.pyi"],
        "torch_openreg_compare": ["py.typed"],
        "torch_openreg_diagnose": ["py.typed", "*.json"],
    },
    # LITERALINCLUDE START: SETUP
    ext_modules=[Extension("torch_openreg._C", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
    install_requires=torch_of_this_build(),
    zip_safe=False,
    entry_points={
        "torch.backends": [
            "torch_openreg = torch_openreg:_autoload",
        ],
        "torch.distributed.backends": [  # read by torch 2.14 and newer
            "occl = torch_openreg.openreg._distributed:_register",
        ],
        "torch_dynamo_backends": [
            "openreg = torch_openreg._dynamo:record_graphs",
        ],
    },
    # LITERALINCLUDE END: SETUP
)
