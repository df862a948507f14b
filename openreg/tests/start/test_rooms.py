# A vendor writes two folders, and the rest does not refer to what is in them; see
# openreg/csrc/README.md.
import re
from pathlib import Path

import pytest

OPENREG = Path(__file__).resolve().parents[2]
CSRC = OPENREG / "csrc"
KERNELS = CSRC / "kernels"
BACKEND = ["runtime", "aten", "amp", "profiler", "distributed"]
INCLUDE = re.compile(r'^#include "(csrc/[^"]+)"', re.MULTILINE)
# What only a simulated device has, or kernels that are functions of the host.
SIMULATED = re.compile(
    r"at::cpu::|orKernelAddress|orSim|[Ss]imulat|\bcpu::(?:call|launch)"
)


def sources(folder):
    found = [p for p in folder.rglob("*") if p.suffix in (".cpp", ".h")]
    assert found, folder
    return found


def includes(path):
    return [name.removeprefix("csrc/") for name in INCLUDE.findall(path.read_text())]


@pytest.mark.parametrize("room", BACKEND)
def test_the_backend_has_nothing_of_the_simulation(room):
    assert SIMULATED.search("at::cpu::add_outf(a, b, 1, out);")
    found = {
        f"{path.relative_to(CSRC)}: {line.strip()}"
        for path in sources(CSRC / room)
        for line in path.read_text().splitlines()
        if SIMULATED.search(line)
    }
    # The type of a function, in a comment, and what CUDA's compiler has for its host.
    assert found <= {
        "aten/structured/Signature.h: "
        "// The type of at::cpu::mul_outf: the arguments, then the outputs."
    }


def test_only_host_halves_include_kernels():
    """And only headers of the room, which are left out with the kernels."""
    found = {}
    for room in BACKEND:
        for path in sources(CSRC / room):
            for name in includes(path):
                if name.startswith("kernels/"):
                    found.setdefault(path.parent.name, set()).add(name)
    assert set(found) == {"host"}
    assert not [name for name in found["host"] if name.startswith("kernels/cpu/")]


def test_each_host_half_has_its_kernels():
    halves = [*(CSRC / "aten/host").glob("*.cpp"), *CSRC.glob("distributed/host/*.cpp")]
    assert len(halves) > 8
    for path in halves:
        assert (KERNELS / path.name).is_file(), path.name


def test_no_kernel_includes_another():
    """So that each file can be deleted by itself."""
    for path in KERNELS.glob("*.cpp"):
        for name in includes(path):
            if re.fullmatch(r"kernels/\w+\.h", name):
                assert Path(name).stem == path.stem, f"{path.name} includes {name}"


def test_no_folder_includes_itself_by_way_of_others():
    graph = {}
    for path in sources(CSRC):
        folder = str(path.parent.relative_to(CSRC))
        needed = {str(Path(name).parent) for name in includes(path)}
        graph.setdefault(folder, set()).update(needed - {folder})
    assert graph["kernels"] >= {"kernels/cpu", "aten/structured"}
    assert_without_circle(graph)


def test_no_header_includes_itself_by_way_of_others():
    headers = [path for path in sources(CSRC) if path.suffix == ".h"]
    assert_without_circle(
        {str(path.relative_to(CSRC)): includes(path) for path in headers}
    )


def assert_without_circle(graph):
    done = set()

    def visit(name, way):
        assert name not in way, " -> ".join([*way[way.index(name) :], name])
        if name not in done:
            for other in sorted(graph.get(name, ())):
                visit(other, [*way, name])
            done.add(name)

    for name in graph:
        visit(name, [])
