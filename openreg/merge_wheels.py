# Makes one wheel for several releases of torch; see docs/ship/packaging.md.
"""python openreg/merge_wheels.py dist-2.13/*.whl dist-2.14/*.whl --into dist

Each wheel is of one backend, for one minor release of torch. What needs torch goes into
a folder for each release, `glue`; the rest has to be the same in all of them.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import subprocess
import tempfile
import zipfile
from pathlib import Path

BUILT_FOR = re.compile(r'^TORCH_VERSION = "(\d+\.\d+)', re.MULTILINE)
DEPENDS = re.compile(r"^Requires-Dist: torch\b.*$", re.MULTILINE)
# To build custom operators takes a wheel for one release.
FOR_BUILDS = ("include/", "share/cmake/")
NEEDS_TORCH = re.compile(r"\(NEEDED\).*\[(libtorch|libc10)")


def merge(wheels: list[Path], target: Path) -> Path:
    """Write the merged wheel into a folder; return its path.

    Raises:
        ValueError: two wheels are for one release of torch, or differ in a file that
            they have to share.
    """
    if len({wheel.name for wheel in wheels}) != 1:
        raise ValueError(
            "The wheels have different names: pass wheels of one Python and one version"
        )
    files: dict[str, bytes] = {}
    releases: list[str] = []
    for wheel in wheels:
        contents = _contents(wheel)
        release = _release(wheel, contents)
        if release in releases:
            raise ValueError(f"Two of the wheels are for torch {release}")
        releases.append(release)
        for name, data in contents.items():
            _add(files, name, data, release)
    for name, data in files.items():
        if name.endswith(".dist-info/METADATA"):
            files[name] = DEPENDS.sub(_range(releases), data.decode()).encode()
    return _written(files, target / wheels[0].name)


def _contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        return {name: archive.read(name) for name in names if "/RECORD" not in name}


def _release(wheel: Path, contents: dict[str, bytes]) -> str:
    """Return the minor release of torch that a wheel was built for."""
    for name, data in contents.items():
        built = (
            BUILT_FOR.search(data.decode()) if name.endswith("_build_info.py") else None
        )
        if built:
            return built[1]
    raise ValueError(f"{wheel} has no _build_info.py that names its torch: rebuild it")


def _add(files: dict[str, bytes], name: str, data: bytes, release: str) -> None:
    package, _, inside = name.partition("/")
    if inside.startswith(FOR_BUILDS):
        return
    if inside == "_build_info.py" or (name.endswith(".so") and _needs_torch(data)):
        files[f"{package}/glue/{release}/{inside}"] = data
        return
    if name.endswith(".dist-info/METADATA"):
        data = DEPENDS.sub("Requires-Dist: torch", data.decode()).encode()
    if files.setdefault(name, data) != data:
        raise ValueError(
            f"{name} differs between the wheels: build all from one commit"
        )


def _needs_torch(data: bytes) -> bool:
    """Whether a shared object is linked to torch, or to one that is."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        command = ["readelf", "-dW", file.name]
        found = subprocess.run(command, check=True, capture_output=True, text=True)
    return bool(NEEDS_TORCH.search(found.stdout))


def _range(releases: list[str]) -> str:
    numbers = sorted(tuple(map(int, release.split("."))) for release in releases)
    first, (major, minor) = numbers[0], numbers[-1]
    return f"Requires-Dist: torch>={first[0]}.{first[1]},<{major}.{minor + 1}"


def _written(files: dict[str, bytes], wheel: Path) -> Path:
    record = next(name for name in files if name.endswith(".dist-info/WHEEL"))
    record = record.replace("/WHEEL", "/RECORD")
    lines = [f"{record},,"]
    wheel.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
            lines.append(f"{name},sha256={digest.decode().rstrip('=')},{len(data)}")
            archive.writestr(name, data)
        archive.writestr(record, "\n".join([*lines, ""]))
    return wheel


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheels", type=Path, nargs="+", help="wheels to merge")
    parser.add_argument("--into", type=Path, required=True, help="output folder")
    options = parser.parse_args()
    try:
        print(merge(options.wheels, options.into))
    except ValueError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
