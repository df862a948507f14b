# The driver of a copy: simulated, or a skeleton; see docs/ship/make-it-yours.md.
"""One of the two folders that the vendor writes, and the same one at every stage."""

from __future__ import annotations

import re
from pathlib import Path

from cloning.full import KINDS, ROOT, edited, inside
from cloning.spelling import Spelling

DRIVER = Path("openreg/third_party/openreg")
HEADERS = DRIVER / "include"
DECLARED = re.compile(r"^OPENREG_API ([^;(]+?[ *])((?:or|occl)\w+)(\([^;]*\));", re.M)
# What a function that is not written returns, by its type.
RETURNED = {
    "orError_t": "orErrorNotSupported",
    "occlResult_t": "occlSystemError",
    "const char*": '"not written yet"',
}
CMAKE = """\
# Builds lib{driver}.so, or takes the one below DRIVER_ROOT.
set(DRIVER_ROOT "" CACHE PATH "Has include and lib of the driver; empty: build it")
if(DRIVER_ROOT)
  if(NOT EXISTS ${{DRIVER_ROOT}}/lib/lib{driver}.so)
    message(FATAL_ERROR "There is no ${{DRIVER_ROOT}}/lib/lib{driver}.so.")
  endif()
  add_library({driver} INTERFACE)
  target_include_directories(
    {driver} INTERFACE $<BUILD_INTERFACE:${{DRIVER_ROOT}}/include>
                       $<INSTALL_INTERFACE:include>)
  target_link_libraries({driver} INTERFACE ${{DRIVER_ROOT}}/lib/lib{driver}.so)
  install(FILES ${{DRIVER_ROOT}}/lib/lib{driver}.so DESTINATION lib)
  install(DIRECTORY ${{DRIVER_ROOT}}/include/ DESTINATION include)
else()
  file(GLOB sources CONFIGURE_DEPENDS ${{CMAKE_CURRENT_SOURCE_DIR}}/*.cpp)
  add_library({driver} SHARED ${{sources}})
  target_include_directories(
    {driver} PUBLIC $<BUILD_INTERFACE:${{CMAKE_CURRENT_SOURCE_DIR}}/include>
                    $<INSTALL_INTERFACE:include>)
  target_compile_options({driver} PRIVATE -Wno-unused-parameter)
  install(DIRECTORY include/ DESTINATION include)
endif()
"""
TESTING = """\
# What tests may need from the driver; a test that needs more is deselected. A driver
# that can hold a stream lists "hold" here, and has a function of that name. It returns
# a context: within it, no task of the stream starts.
CAPABILITIES: set[str] = set()
"""
STUBS = """\
// What stage {stage} needs, and the driver does not do yet. Write each function into a
// file of yours, and delete it here.
{includes}
{functions}
"""


def simulated_driver() -> dict[str, str]:
    """The files of the simulated driver, without its tests: their paths and texts."""
    every = sorted((ROOT / DRIVER).rglob("*"))
    files = [path.relative_to(ROOT) for path in every if path.suffix in KINDS]
    files = [path for path in files if path.parts[3] != "tests"]
    return {inside(path): edited(path) for path in files}


def skeleton(spelling: Spelling, stages: dict[int, str]) -> dict[str, str]:
    """Headers, a build, and a function that fails for each one that is needed.

    Args:
        stages: the C++ code of the copy at each stage. The functions that a stage adds
            are in their own file, so that a later stage adds only files.
    """
    folder = f"third_party/{spelling.driver}"
    texts = {f"{folder}/CMakeLists.txt": CMAKE.format(driver=spelling.driver)}
    texts[f"{folder}/testing.py"] = TESTING
    declared: list[tuple[str, str, str]] = []
    includes, done = "", set[str]()
    for path in sorted((ROOT / HEADERS).glob("*.h")):
        name = spelling.renamed(path.name, path.name)
        include = f"#include <{name}>\n"
        if any(include in code for code in stages.values()):
            header = edited(path.relative_to(ROOT))
            texts[f"{folder}/include/{name}"] = spelling.renamed(header, str(path))
            declared += DECLARED.findall(header)
            includes += include
    for stage, code in stages.items():
        calls = set(re.findall(r"\b(?:or|occl)[A-Z]\w+", code)) - done
        functions = [
            f"{kind}{name}{' '.join(parameters.split())} {{\n"
            f"  return {RETURNED.get(kind.strip(), '{}')};\n}}"
            for kind, name, parameters in declared
            if name in calls
        ]
        done |= calls
        if functions:
            texts[f"{folder}/stubs_{stage}.cpp"] = STUBS.format(
                stage=stage, includes=includes, functions="\n".join(functions)
            )
    return texts
