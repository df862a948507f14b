"""Tests of warm_python.py: its copies do what a new Python does, and say the same."""

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest
from run_pages import page_environment
from warm_python import WarmPython
from warm_server import Kept, import_group


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    python = WarmPython(tmp_path_factory.mktemp("warm"), page_environment())
    yield python
    python.close()


def run(command, env, folder):
    result = subprocess.run(
        ["bash", "-c", command], env=env, cwd=folder, capture_output=True, text=True
    )
    return result.returncode, result.stdout, result.stderr.split("\n", 1)[-1]


PROGRAMS = [
    "python -c 'import sys; print(sys.argv, sys.path[0])' a b < /dev/null",
    'python -c \'import sys; print("torch" in sys.modules); import torch, sys'
    '; print("torch" in sys.modules, torch.openreg.is_available())\'',
    "TORCH_DEVICE_BACKEND_AUTOLOAD=0 python -c 'import torch"
    '; print(hasattr(torch, "openreg"))\'',
    "python -c 'import sys; sys.exit(3)'; echo $?",
    "python -c 'raise ValueError(1)'; echo $?",
    "python -c 'x = ('; echo $?",
    "python -c 'import os; os.abort()' 2> /dev/null; echo $?",
    "echo 'print(__file__, __name__); 1 / 0' > file.py; python file.py x; echo $?",
    "python missing.py",
    "python -c 'import os; print(os.environ[\"OPENREG_X\"], os.getcwd())'",
    "ulimit -n 99; python -c 'import resource as r; print(r.getrlimit(7))'",
    "python -V",
    "PYTHONHASHSEED=7 python -c 'print(hash(\"x\"))'",
    "python -c 'import importlib.util as u; print(u.find_spec(\"torch\").origin)'",
    "python -c 'import torch.nn.functional, numpy.linalg; print(numpy.linalg)'",
    "echo 'import multiprocessing as m\ndef f(): print(__name__)\n"
    'if __name__ == "__main__":\n p = m.get_context("spawn").Process(target=f)'
    "; p.start(); p.join()' > spawn.py; python spawn.py",
    # Modules: of the standard library and known to torch, one with torch, none.
    "python -m json.tool <<< '[1]'; python -m zipfile; echo $?",
    "echo 'import sys, torch; print(__name__, __spec__.name, sys.argv, sys.path[0])"
    "; sys.exit(4)' > own.py; python -m own a; echo $?",
    "python -m torch.distributed.run --help",
    "echo '1 / 0' > wrong.py; python -m wrong; echo $?",
    "python -m no_such_module 2>&1 | grep -o 'No module named .*'; echo $?",
    "mkdir late; echo 'x = 1' > late/late_module.py"
    "; PYTHONPATH=late python -c 'import late_module, sys"
    "; print(late_module.__file__, sys.path[1])'",
    "python -c 'import sys; print(sys.path[1:])'",
    # What the compiler imports is there when it is imported.
    "python -c 'import torch; print(torch.fx.experimental.symbolic_shapes)' 2>&1"
    " | tail -n 1",
    'python -c \'import torch.distributed.tensor as t, sys; n = "torch._dynamo"'
    "; print(n in sys.modules, t.__spec__.name, t.__package__, t.__spec__.loader)"
    "; import torch._dynamo.config; print(n in sys.modules, torch._dynamo.config)"
    '; print(sorted(n for n in sys.modules if n.startswith(("torch", "sym"))))\''
    " | sed 's/at 0x[0-9a-f]*//'",
    "python -c 'import sympy, sys; print(sympy.Integer(1), \"torch\" in sys.modules)'",
    "python -c 'import torch._dynamo as d; print(d.code_context); d.reset()'"
    " | sed 's/at 0x[0-9a-f]*//'",
    # What it does at the end, and only then.
    "python -c 'import atexit, torch"
    "; n = atexit._ncallbacks(); import torch._dynamo"
    "; print(atexit._ncallbacks() - n)'",
    # As torch.distributed.run starts a rank.
    "echo 'import sys, torch; print(sys.argv, torch.get_num_threads())' > rank.py"
    "; OMP_NUM_THREADS=1 TORCH_NCCL_ASYNC_ERROR_HANDLING=1 python -u rank.py -u",
    "OMP_NUM_THREADS=3 python -c 'import torch; print(torch.get_num_threads())'",
]


def test_a_program_finds_the_small_python(warm, tmp_path):
    program = "import sys; print(sys.executable)"
    assert run(f'python -c "{program}"', warm.env, tmp_path)[1] == f"{warm.python}\n"


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_copy_does_what_python_does(warm, tmp_path, program):
    cold = {**page_environment(), "OPENREG_X": "1"}
    expected = run(program, cold, tmp_path)
    assert run(program, {**warm.env, "OPENREG_X": "1"}, tmp_path) == expected


def test_a_copy_is_a_fork_and_other_programs_are_not(warm, tmp_path):
    program = "import os; print(os.getppid())"
    real = str(Path(sys.executable).resolve())
    asked = f"import os; print(os.readlink('/proc/self/exe') == {real!r})"
    env = warm.env
    assert run(f'python -c "{asked}"', env, tmp_path)[1] == "True\n"
    (tmp_path / "rank.py").write_text(program)
    for command in (f'python -c "{program}"', "OMP_NUM_THREADS=1 python -u rank.py"):
        assert run(command, env, tmp_path)[1] not in ("", f"{os.getpid()}\n")
    # The shell execs the real Python, whose parent is this process.
    assert (
        run(f'python -c "{program} # ctypes"', env, tmp_path)[1] == f"{os.getpid()}\n"
    )


def test_a_copy_ends_with_the_program_that_asked(warm, tmp_path):
    copy = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
    asker = subprocess.Popen(
        [warm.python, "-c", copy], env=warm.env, cwd=tmp_path, stdout=subprocess.PIPE
    )
    pid = int(asker.stdout.readline())
    done = os.pidfd_open(pid)
    asker.kill()
    asker.communicate()
    assert select.select([done], [], [], 20)[0], "the copy is still running"
    os.close(done)


# What the import of a C extension with modules of its own does; Triton's is one.
OUTSIDE = """\
import sys, types
inner = sys.modules["outside.inner"] = types.ModuleType("outside.inner")
inner.deep = sys.modules["outside.inner.deep"] = types.ModuleType("outside.inner.deep")
"""


def test_what_a_module_itself_put_beside_it_comes_back_with_it(tmp_path, monkeypatch):
    (tmp_path / "outside.py").write_text(OUTSIDE)
    monkeypatch.syspath_prepend(tmp_path)
    finder = Kept([import_group("outside")])
    assert not [name for name in sys.modules if name.startswith("outside")]
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    from outside.inner import deep  # type: ignore[import-not-found]

    assert sys.modules.pop("outside.inner.deep") is deep
    del sys.modules["outside"], sys.modules["outside.inner"]
