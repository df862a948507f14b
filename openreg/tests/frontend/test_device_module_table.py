# The device module has what torch looks up; see docs/reference/device-module-table.md.
import ast
import contextlib
import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import module_table
import pytest
import torch
from module_lookups import Lookups
from module_rows import ABSENT, BY_CPP, PRESENT, Row
from torch_release import of_the_pages

openreg = torch.openreg
TESTS = Path(__file__).parents[1]
PATHS = [str(Path(__file__).parent), str(TESTS / "support"), str(TESTS / "tools")]
ROWS = [row for rows in PRESENT.values() for row in rows]
IDS = [row.name for row in ROWS]
HIDDEN = {"_initialized": "__getattr__"}  # which answers it


@pytest.fixture(scope="module")
def lookups() -> Lookups:
    return Lookups(Path(torch.__file__).parent)


# -- the table and torch --


@of_the_pages
def test_the_table_names_what_torch_looks_up_and_nothing_else(lookups):
    found = set(lookups.found) | set(BY_CPP)
    assert len(IDS) == len(set(IDS))
    assert found - set(IDS) - set(ABSENT) == set(), "torch looks up more: add rows"
    assert (set(IDS) | set(ABSENT)) - found == set(), "torch no longer looks them up"


@of_the_pages
def test_the_page_is_what_the_tool_writes(lookups):
    hint = "write it again: python openreg/tests/tools/module_table.py"
    assert module_table.PAGE.read_text() == module_table.page(lookups), hint


# What getattr(torch, ...) is called with where it does not mean a device module.
NO_MODULES = {
    "attr",
    "config.numpy_default_complex",
    "config.numpy_default_float",
    "config.numpy_default_int",
    "dtype.split('.')[-1]",
    "f'int{x}'",
    "f'uint{x}'",
    "first_repr",
    "gpu",  # of a list in which PrivateUse1 never is
    "inplace_op_name",
    "metadata['layout_value'].split('.')[-1]",
    "metadata['memory_format_value'].split('.')[-1]",
    "metadata[dtype_key].split('.')[-1]",
    "mode",
    "name",
    "op_name",
    "priv_sym_name",
    "quant_type.split('.')[-1]",
    "s",
    "storage_type.__name__",
    "storage_type_str",
    "target",
    "torch_sym_op",
    "type_name",
    "type_string",
    "unary_foreach_func_name",
    "unary_inplace_foreach_func_name",
    "x",  # of the same list
}
COMPUTED = {
    "amp/autocast_mode.py: __init__: func",  # get_amp_supported_dtype
    "distributed/_local_tensor/__init__.py: __getattr__: name",  # forwards
    "distributed/fsdp/_common_utils.py: __getattr__: name",  # forwards
    "storage.py: _get_legacy_storage_class: storage_name",  # test_legacy_storages.py
    "utils/backend_registration.py: _get_custom_mod_func: func_name",  # its callers
}


@of_the_pages
def test_each_other_way_to_a_device_module_has_been_looked_at(lookups):
    assert set(lookups.other) == NO_MODULES
    assert lookups.dynamic == COMPUTED


def test_the_tool_finds_each_way_to_look_something_up(tmp_path):
    (tmp_path / "a.py").write_text(
        "import torch\n"
        "def handle(device_type): return getattr(torch, device_type, None)\n"
        "class A:\n"
        "    def __init__(self, t): self._device_module = handle(t)\n"
        "    def f(self): self._device_module.by_attribute()\n"
        "def g(d):\n"
        "    m = handle(d) or None\n"
        "    if hasattr(m, 'by_hasattr'): m._utils.inner()\n"
        "    return m.by_local\n"
        "_get_device_attr(lambda m: m.by_function())\n"
        "_get_custom_mod_func('by_name')\n"
        "def h(handle: _FSDPDeviceHandle): handle.by_annotation\n"
        "def unrelated(m): m.not_looked_up; getattr(torch, 'float32').nor_this\n"
        "def k(name): getattr(torch, name).nor_that; getattr(g(0), name)\n"
    )
    lookups = Lookups(tmp_path)
    assert set(lookups.found) == {
        *("by_attribute", "by_hasattr", "by_local", "by_function", "by_name"),
        *("by_annotation", "_utils", "_utils.inner"),
    }
    assert lookups.found["by_local"] == {"a.py: g"}
    assert lookups.other == {"name": {"a.py"}}


# -- the table and openreg --


@contextlib.contextmanager
def lacking(name: str | None) -> Iterator[None]:
    """Within the context torch.openreg has no attribute of this name."""
    owner, hidden = openreg, name
    if name and "." in name:
        owner, hidden = openreg._utils, name.split(".")[1]
    hidden = HIDDEN.get(name or "", hidden)
    if hidden is None:
        yield
        return
    value = vars(owner)[hidden]
    delattr(owner, hidden)
    try:
        yield
    finally:
        setattr(owner, hidden, value)


def outcome(code: str, lack: str | None) -> str:
    """What ``result`` is, or the warning or the error that came first."""
    names: dict[str, object] = {"torch": torch}
    with lacking(lack), warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=FutureWarning)
        try:
            exec(code, names)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
    return repr(names["result"])


def outcomes_alone(run_forked) -> dict[str, list[str]]:
    """The two outcomes of each row that needs a separate process, by its name.

    The processes are forks of one that has imported what takes seconds to import.
    """
    program = f"""
        import json, os, sys
        sys.path[:0] = {PATHS!r}
        import torch.distributed._tools.memory_tracker
        from test_device_module_table import ROWS, outcome
        for row in (row for row in ROWS if row.alone):
            for lack in (None, row.name):
                child = os.fork()
                if child == 0:
                    told = json.dumps([row.name, outcome(row.code, lack)])
                    print("OUTCOME", told, flush=True)
                    os._exit(0)
                os.waitpid(child, 0)
    """
    process = run_forked(program)
    outcomes: dict[str, list[str]] = {}
    for line in process.stdout.splitlines():
        if line.startswith("OUTCOME"):
            name, told = json.loads(line.removeprefix("OUTCOME "))
            outcomes.setdefault(name, []).append(told)
    assert set(outcomes) == {row.name for row in ROWS if row.alone}, process.stderr
    return outcomes


def check(row: Row, told: str, told_without: str) -> None:
    assert told == row.given, row.name
    assert told_without.startswith(row.without), row.name
    assert (told_without == row.given) == (row.without == row.given), row.name


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=row.name) for row in ROWS if not row.alone]
)
def test_with_the_attribute_it_works_and_without_it_does_what_the_table_says(row: Row):
    torch.ones(1, device="openreg")
    told = []
    for lack in (None, row.name):
        torch.openreg.set_device(0)
        told.append(outcome(row.code, lack))
    check(row, *told)


def test_rows_in_processes_of_their_own_do_what_the_table_says(run_forked):
    outcomes = outcomes_alone(run_forked)
    for row in (row for row in ROWS if row.alone):
        check(row, *outcomes[row.name])


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_the_test_of_the_feature_exists(row: Row):
    file, _, function = row.test.partition("::")
    tree = ast.parse(next(TESTS.rglob(file)).read_text())
    assert function in {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef)
    }


def test_what_the_table_calls_absent_is_absent_or_not_asked_for():
    there = {name for name in ABSENT if hasattr(openreg, name)}
    assert there == {"get_device_name"}


def test_the_lookup_of_the_code_generator_registers_it(run_forked):
    program = """
        import sys, torch
        print("torch_openreg._inductor" in sys.modules)
        print(hasattr(torch.openreg, "Scheduling"))  # torch goes on as without it
        from torch._inductor.codegen.common import device_codegens
        print(device_codegens["openreg"].scheduling.__name__)
    """
    process = run_forked(program)
    assert process.stdout.split() == ["False", "False", "OpenRegScheduling"]
