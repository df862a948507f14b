# Finds the shared objects for the torch that runs; see docs/ship/packaging.md.
"""A wheel may have objects for several minor releases of torch, in the folder glue."""

from pathlib import Path


# LITERALINCLUDE START: GLUE
def choose(running: str, path: list[str]) -> None:
    """Put the objects for a torch first on the path of the package.

    A wheel for one release has no such folder, and nothing happens.

    Args:
        running: version of the torch that is imported, such as ``"2.13.0+cpu"``.
        path: ``__path__`` of the package.

    Raises:
        ImportError: the wheel has no objects for this torch.
    """
    package = Path(path[-1])
    minor = ".".join(running.split(".")[:2])
    there = sorted(folder.name for folder in (package / "glue").glob("*.*"))
    if not there or path[0] == str(package / "glue" / minor):
        return
    if minor not in there:
        raise ImportError(
            f"torch_openreg: this wheel is for torch {', '.join(there)}, but torch "
            f"{running} is imported. Install one of these releases, or a newer wheel."
        )
    path.insert(0, str(package / "glue" / minor))


# LITERALINCLUDE END: GLUE
