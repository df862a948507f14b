# Builds and installs torch_starter; explained in docs/start/first-backend.md.
import os
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from zlib import crc32

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# LITERALINCLUDE START: STARTER_SETUP
ROOT = Path(__file__).resolve().parent
(ROOT / "build").mkdir(exist_ok=True)  # for the metadata


class CMakeBuild(build_ext):
    """Runs CMake once, which puts four shared objects into the package."""

    def run(self) -> None:
        # CMake rejects a copied folder, so its path is part of the name.
        place = f"{sys.implementation.cache_tag}-{crc32(bytes(ROOT)):08x}"
        build = ROOT / "build" / place
        package = Path(self.build_lib).resolve() / "torch_starter"
        configure = ["cmake", "-G", "Ninja", "-S", ROOT, "-B", build]
        configure += [f"-DPython_EXECUTABLE={sys.executable}"]
        configure += ["-DCMAKE_BUILD_TYPE=Release"]
        configure += ["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=0"]
        configure += [f"-DCMAKE_INSTALL_PREFIX={package}"]
        configure += shlex.split(os.environ.get("CMAKE_ARGS", ""))
        for command in (
            configure,
            ["cmake", "--build", build],
            ["cmake", "--install", build],
        ):
            subprocess.run(command, check=True)


# LITERALINCLUDE END: STARTER_SETUP
# LITERALINCLUDE START: STARTER_SETUP_CALL
# VENDOR: one build for each minor release of torch; no stable ABI has guard or hooks
MINOR = ".".join(version("torch").split(".")[:2])
# VENDOR: name your packages; without the entry point, programs import the backend
setup(
    packages=["torch_starter", "torch_starter.starter"],
    ext_modules=[Extension("torch_starter._C", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
    install_requires=[f"torch=={MINOR}.*"],
    options={"egg_info": {"egg_base": str(ROOT / "build")}},
    entry_points={"torch.backends": ["torch_starter = torch_starter:_autoload"]},
)
# LITERALINCLUDE END: STARTER_SETUP_CALL
