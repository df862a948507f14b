# Finds what each member of a Triton backend is needed for; see docs/modules/triton.md.
"""Takes one member at a time away from the plug-in, and runs programs without it.

python openreg/tests/tools/triton_knockouts.py [COMMIT]

It prints a table; with COMMIT, it keeps the table for the guide. Most members of the
interface are not abstract in Triton: a plug-in without them loads, and fails later.
`nox -s triton -- --record COMMIT` runs it.
"""

from __future__ import annotations

import datetime
import json
import multiprocessing
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import torch_openreg._inductor as inductor
import triton
import triton.language as tl
from triton.backends import backends
from triton.backends.compiler import BaseBackend
from triton.backends.driver import DriverBase
from triton.language.extra import libdevice

KEPT = Path(__file__).with_suffix(".json")
PLUGIN = backends["openreg"]
PARTS = ("driver", "driver.utils", "compiler", "options")
TORCH, TRITON = Path(torch.__file__).parent, Path(triton.__file__).parent
STARTS = {TORCH: TORCH.parent, TRITON: TRITON}  # of the names of a package's files


# -- what runs without a member --


@triton.jit
def twice(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@triton.jit
def product(x, B: tl.constexpr):
    i = tl.arange(0, B)
    block = x + i[:, None] * B + i[None, :]
    tl.store(block, tl.dot(tl.load(block), tl.load(block)))


@triton.jit
def logarithm(x):
    tl.store(x, libdevice.log1p(tl.load(x)))


@triton.jit
def printing(x):
    tl.device_print("value", tl.load(x))


def ones(*shape: int) -> torch.Tensor:
    return torch.ones(shape, device="openreg")


def launch() -> None:
    x = ones(100)
    twice[(4,)](x, 100, B=32)
    assert x.sum().item() == 200


def dot() -> None:
    x = ones(16, 16)
    product[(1,)](x, B=16)
    assert x[0, 0].item() == 16


def call_library() -> None:
    x = ones(1)
    logarithm[(1,)](x)
    torch.testing.assert_close(x.cpu(), torch.ones(1).log1p())


def print_value() -> None:
    x = ones(1)
    triton.runtime.driver.active.utils.set_printf_fifo_size(1 << 20)
    printing[(1,)](x)


def autotune() -> None:
    configs = [triton.Config({"B": size}) for size in (32, 64)]
    tuned = triton.autotune(configs, key=[])(twice)
    tuned[(4,)](ones(100), 100)


def compile_graph() -> None:
    inductor.config.backend = "triton"
    inductor.register()
    x = ones(100)
    found = torch.compile(lambda x: x.sin() + 1)(x)
    torch.testing.assert_close(found, x.sin() + 1)


PROGRAMS: dict[str, Callable[[], None]] = {
    "a launch": launch,
    "`tl.dot`": dot,
    "`libdevice`": call_library,
    "`device_print`": print_value,
    "autotuning": autotune,
    "`torch.compile`": compile_graph,
}


# -- the members --


def holders() -> dict[str, Any]:
    """Return the objects that have the members, by part."""
    driver = PLUGIN.driver()
    options = type(PLUGIN.compiler(driver.get_current_target()).parse_options({}))
    return {
        "driver": driver,
        "driver.utils": driver.utils,
        "compiler": PLUGIN.compiler,
        "options": options,
    }


def members() -> Iterator[tuple[str, str]]:
    """Yield part and name of each public member of the plug-in."""
    for part, holder in holders().items():
        owner = holder if isinstance(holder, type) else type(holder)
        own = {**vars(owner), **getattr(holder, "__dict__", {})}
        names = {name for name in own if not name.startswith("_")}
        for name in sorted(names - {"hash"} if part == "options" else names):
            yield part, name


def is_abstract(part: str, name: str) -> bool:
    """Return whether Triton does not even load a plug-in without the member."""
    base = {"driver": DriverBase, "compiler": BaseBackend}.get(part)
    return base is not None and name in base.__abstractmethods__


def take_away(part: str, name: str) -> None:
    """Remove a member, in this process."""
    if part == "options":
        take_option_away(name)
        return
    triton.runtime.driver.set_active(PLUGIN.driver())
    active = triton.runtime.driver.active
    holder = {
        "driver": active,
        "driver.utils": active.utils,
        "compiler": PLUGIN.compiler,
    }[part]
    if name in getattr(holder, "__dict__", {}) and not isinstance(holder, type):
        delattr(holder, name)
    else:
        delattr(holder if isinstance(holder, type) else type(holder), name)


def take_option_away(name: str) -> None:
    """Make options without one of their fields."""
    parse = PLUGIN.compiler.parse_options

    def parse_options(self: Any, options: dict[str, Any]) -> Any:
        found = parse(self, options)
        kind = type(found)
        kind.hash = kind.__repr__ = lambda self: str(sorted(vars(self)))
        object.__delattr__(found, name)
        if name in vars(kind):
            delattr(kind, name)
        return found

    PLUGIN.compiler.parse_options = parse_options  # type: ignore[method-assign]


# -- what happens --


def caller(error: BaseException) -> str:
    """Return the last line of torch or Triton that led to an error.

    Files of Triton are below its package; those of torch begin with torch.
    """
    where = ""
    for frame in traceback.extract_tb(error.__traceback__):
        file = Path(frame.filename)
        for package, start in STARTS.items():
            if file.is_relative_to(package):
                where = f"{file.relative_to(start)}:{frame.lineno}"
    return where


def try_without(part: str, name: str, answer: Any) -> None:
    """Run the programs in this process, until one fails; send what was found."""
    for stream in (1, 2):  # compilers write to one, and device_print to the other
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TRITON_CACHE_DIR"] = os.environ["TORCHINDUCTOR_CACHE_DIR"] = folder
        torch._inductor.config.compile_threads = 1
        for program, run in PROGRAMS.items():
            try:
                if program == next(iter(PROGRAMS)) and name:
                    take_away(part, name)
                run()
                torch.openreg.synchronize()
            except Exception as failure:
                error: BaseException = failure
                where = caller(error)
                while error.__cause__ is not None:  # Triton's adds the kernel's lines
                    error = error.__cause__
                text = re.sub(r"\s+", " ", str(error)).strip()
                found = {"program": program, "called_by": where}
                answer.put({**found, "error": f"{type(error).__name__}: {text[:160]}"})
                return
    answer.put({})


def measure(part: str = "", name: str = "") -> dict[str, str]:
    """Run the programs without a member, in a separate process."""
    context = multiprocessing.get_context("fork")  # torch and Triton are loaded here
    answer = context.SimpleQueue()
    process = context.Process(target=try_without, args=(part, name, answer))
    process.start()
    process.join()
    if process.exitcode != 0:
        return {
            "program": "",
            "error": f"exit code {process.exitcode}",
            "called_by": "",
        }
    found: dict[str, str] = answer.get()
    return found


def main() -> None:
    """Print a line for each member, and keep the table if a commit is named."""
    import torch._inductor.config  # noqa: F401  before the fork

    assert not measure(), f"with all members: {measure()}"
    classes = {
        part: (holder if isinstance(holder, type) else type(holder)).__name__
        for part, holder in holders().items()
    }
    rows = []
    for part, name in members():
        member, abstract = f"{classes[part]}.{name}", is_abstract(part, name)
        found = {} if abstract else measure(part, name)
        nothing = {"program": None, "called_by": None, "error": None}
        rows.append({"member": member, "abstract": abstract, **nothing, **found})
        what = "abstract" if abstract else found.get("error", "nothing fails")
        print(f"{member:50}{found.get('program', ''):17}{what[:90]}", flush=True)
    if sys.argv[1:]:
        date = datetime.date.today().isoformat()
        kept = {"commit": sys.argv[1], "date": date, "triton": triton.__version__}
        KEPT.write_text(json.dumps({**kept, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
