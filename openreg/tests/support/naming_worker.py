# Tries names and orders of registration; see docs/frontend/naming.md.
"""Runs small programs, each in a process with torch, where nothing is registered.

It reads a list of programs as JSON from standard input and writes what each printed, or
its last error. One import of torch serves all of them: each runs in a forked child.
"""

import contextlib
import importlib.util
import io
import json
import os
import sys
import warnings
from pathlib import Path

import torch

# Found without an import, which would register everything.
PACKAGE = Path(importlib.util.find_spec("torch_openreg").origin).parent
LIBRARY = PACKAGE / "lib/libtorch_openreg.so"


def attempt(program: str) -> str:
    """Return what the program printed, one line after the other, and its error."""
    printed = io.StringIO()
    names = {"torch": torch, "LIBRARY": LIBRARY}
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(program, names)
        except Exception as error:
            print(f"{type(error).__name__}: {error}")
    return printed.getvalue().strip()


def in_child(program: str) -> str:
    """Return the same, from a child process."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "w") as pipe:
            pipe.write(attempt(program))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        result = pipe.read()
    _, status = os.waitpid(child, 0)
    return result if status == 0 else f"{result}\nended with {status}"


if __name__ == "__main__":
    json.dump([in_child(program) for program in json.load(sys.stdin)], sys.stdout)
