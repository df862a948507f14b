# docs/reference/torch-openreg.md has every public name, and its rule for devices holds.
"""The page lists names; docs/_ext/python_reference.py adds their docstrings."""

import importlib
import inspect
import re
from pathlib import Path

import pytest
import torch

PAGE = Path(__file__).resolve().parents[1] / "docs/reference/torch-openreg.md"
LISTS = re.compile(r"^```\{python-api\} (\S+)\n((?:\w+\n)+)```", re.MULTILINE)
WRITTEN = re.compile(r"^```\{py:\w+\} (\S+)\.(\w+)", re.MULTILINE)
LISTED = [
    (module, name)
    for module, names in LISTS.findall(PAGE.read_text())
    for name in names.split()
]
BESIDE = {"DeviceProperties"}  # what a function returns
OTHERS = {"torch_openreg.simulator": None, "torch_openreg.utils": ["Path"]}


def public(module):
    """The names that a module gives to its users."""
    loaded = importlib.import_module(module)
    names = getattr(loaded, "__all__", None)
    if names is None:
        names = [name for name in vars(loaded) if not name.startswith("_")]
    imported = OTHERS.get(module) or []
    return {
        name
        for name in names
        if name not in imported and not inspect.ismodule(getattr(loaded, name))
    }


@pytest.mark.parametrize("module", ["torch.openreg", *OTHERS])
def test_the_page_has_each_public_name_once(module):
    entries = LISTED + WRITTEN.findall(PAGE.read_text())
    there = sorted(name for owner, name in entries if owner == module)
    extra = BESIDE if module == "torch.openreg" else set()
    assert there == sorted(public(module) | extra)


@pytest.mark.parametrize(("module", "name"), LISTED)
def test_a_name_has_a_docstring_and_types(module, name):
    value = getattr(importlib.import_module(module), name)
    summary = (inspect.getdoc(value) or "").partition("\n")[0]
    assert len(summary) > 15 and summary.endswith((".", ";", ":"))
    if inspect.isfunction(value):
        signature = inspect.signature(value)
        types = [p.annotation for p in signature.parameters.values()]
        assert inspect.Signature.empty not in [*types, signature.return_annotation]


WITH_DEVICE = [
    name
    for module, name in LISTED
    if inspect.isfunction(value := getattr(importlib.import_module(module), name))
    and "device" in inspect.signature(value).parameters
]


@pytest.fixture(scope="module")
def arguments():
    """A value for each argument, besides the device, that some function requires."""
    return {
        "fraction": 0.5,
        "size": 512,
        "peer": 0,
        "new_state": torch.openreg.get_rng_state(),
        "data_ptr": 0,
        "pool": torch.openreg.MemPool(),
    }


@pytest.mark.parametrize("name", WITH_DEVICE)
def test_a_wrong_device_raises_what_the_page_says(name, arguments):
    function = getattr(torch.openreg, name)
    parameters = inspect.signature(function).parameters.values()
    required = [p.name for p in parameters if p.default is p.empty]
    given = {key: arguments[key] for key in required if key != "device"}
    for device, error in (("cpu", ValueError), (99, torch.AcceleratorError)):
        with pytest.raises(error, match="openreg"):
            entered = function(**given, device=device)
            entered.__enter__()  # a context raises here, and nothing else comes here


def test_most_functions_are_there():
    assert len(LISTED) > 80 and len(WITH_DEVICE) > 20
