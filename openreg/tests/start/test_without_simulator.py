# The host code compiles without the simulation; see openreg/csrc/README.md.
import re
import shutil

from copies import compile_files
from ladder_stages import OPENREG

CSRC = OPENREG / "csrc"
KEPT = ["AutogradExit.h", "AutogradExit.cpp"]
INCLUDED = re.compile(r'^#include "csrc/simulator/(\w+\.h)"', re.MULTILINE)
IN_PYTHON = re.compile(
    r"^from .* import .*\bsimulator\b|\b_sim_|\b_sleep\b", re.MULTILINE
)
# Of each room: what launches kernels of its own, or asks for the types of Launch.h.
HOST_CODE = """
#include "csrc/aten/RegisterStructuredUnary.cpp"
#include "csrc/aten/launch/Launch.cpp"
#include "csrc/aten/ops/Add.cpp"
#include "csrc/aten/ops/Fill.cpp"
#include "csrc/aten/ops/HostCheck.cpp"
#include "csrc/aten/host/RandomDiscrete.cpp"
#include "csrc/distributed/OneShotAllReduce.cpp"
#include "csrc/distributed/SymmetricMemory.cpp"
#include "csrc/simulator/AutogradExit.cpp"
"""


def test_the_readme_names_each_file_that_refers_to_the_simulator():
    _, _, section = (CSRC / "README.md").read_text().partition("## Deleting")
    rows = re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([\w/.]+)`", row)]
    sources = [*CSRC.rglob("*.*"), *(OPENREG / "torch_openreg/csrc").glob("*.*")]
    found = {
        str(path.relative_to(OPENREG)).removeprefix("csrc/")
        for path in sources
        if path.parent != CSRC / "simulator"
        if {*INCLUDED.findall(path.read_text())} - {*KEPT}
    }
    package = OPENREG / "torch_openreg"
    found |= {
        str(path.relative_to(OPENREG))
        for path in (*package.rglob("*.py"), *package.glob("*.pyi"))
        if path.name != "simulator.py" and IN_PYTHON.search(path.read_text())
    }
    assert found == {*named} - {"CMakeLists.txt"}
    assert "install(FILES simulator/" in (CSRC / "CMakeLists.txt").read_text()


def test_host_code_compiles_with_a_launch_of_its_own(tmp_path):
    shutil.copytree(CSRC, tmp_path / "csrc")
    for path in (tmp_path / "csrc/simulator").iterdir():
        if path.name not in KEPT:
            path.unlink()
    own = OPENREG / "tests/examples/launch/Launch.h"
    shutil.copy(own, tmp_path / "csrc/aten/launch/Launch.h")
    source = tmp_path / "host_code.cpp"
    source.write_text(HOST_CODE)
    driver = OPENREG / "third_party/openreg"
    compile_files([source], tmp_path, driver, ["-Wall", "-Wextra", "-Werror"])
