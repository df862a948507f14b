# Explains the signal that ended a command; see docs/ship/known-crashes.md.
"""Which signal it was, what it means for this backend, and the page to read."""

import signal

PAGE = "docs/ship/known-crashes.md"
# The page has a table of the same signals and meanings; a test compares them.
MEANINGS = {
    "SIGABRT": "C++ code called abort(): an exception was not caught, often while a "
    "library was loaded. The text after `terminate called` names it",
    "SIGBUS": "mapped memory has no space left: /dev/shm or the disk is full",
    "SIGFPE": "an integer was divided by zero in C++ code",
    "SIGILL": "the processor lacks an instruction: torch, or the program, was built "
    "for another processor",
    "SIGKILL": "the system stopped it, in most cases because memory ran out. "
    "Set MAX_JOBS=1 for a build",
    "SIGSEGV": "a segmentation fault (segfault), from undefined behavior: code on the "
    "host touched memory that is not its own: memory of a device, a freed object, or a "
    "stack that overflowed in an endless recursion",
    "SIGTERM": "another program asked it to stop, such as a time limit",
}


def signal_of(status: int | None) -> str | None:
    """The name of the signal behind an exit status, as Python or a shell reports it."""
    if status is None:
        return None
    try:
        name = signal.Signals(-status if status < 0 else status - 128).name
    except ValueError:
        return None
    return name if status < 0 or name in MEANINGS else None  # above 128: a guess


def explain(command: str, status: int | None) -> str | None:
    """What to say about a command with this exit status; None if no signal ended it."""
    name = signal_of(status)
    if name is None:
        return None
    meaning = MEANINGS.get(name, "it was stopped from outside")
    return (
        f"{command} was ended by {name}: {meaning}. Read {PAGE}; "
        "`python -m torch_openreg_diagnose` shows whether the backend loads"
    )
