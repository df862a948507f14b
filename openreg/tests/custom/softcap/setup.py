# Builds custom operators out of tree; see docs/operators/custom.md.
import subprocess
import sys
from pathlib import Path

import torch_openreg.utils
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent


# LITERALINCLUDE START: SOFTCAP_SETUP
class CMakeBuild(build_ext):
    """Lets CMake put its libraries beside the package's Python files."""

    def run(self) -> None:
        build = Path(self.build_temp).resolve()
        package = Path(self.build_lib).resolve() / "softcap"
        configure = ["cmake", "-G", "Ninja", "-S", ROOT, "-B", build]
        configure += [
            "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_UNITY_BUILD=ON",  # torch's headers are compiled once
            f"-DPython_EXECUTABLE={sys.executable}",
            f"-DCMAKE_PREFIX_PATH={torch_openreg.utils.cmake_prefix_path}",
            f"-DCMAKE_INSTALL_PREFIX={package}",
        ]
        subprocess.run(configure, check=True)
        subprocess.run(["cmake", "--build", build, "--target", "install"], check=True)


setup(
    name="softcap",
    version="1.0",
    packages=["softcap"],
    ext_modules=[Extension("softcap._none", sources=[])],  # so that build_ext runs
    cmdclass={"build_ext": CMakeBuild},
)
# LITERALINCLUDE END: SOFTCAP_SETUP
