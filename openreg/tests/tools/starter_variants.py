# Makes a starter that can leave out a piece; see docs/reference/starter-knockouts.md.
"""Rewrites a copy of the starter so that STARTER_WITHOUT names what is not registered.

The sources themselves carry no switches. Of the guard, the allocator and the hooks the
copy has one class for each member: the class without it. They are compiled together,
since the headers take most of the time.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from starter_build import STARTER, sources

CLASSES = {  # file, class, how to register an object of a class T
    "guard": (
        "csrc/runtime/interface/StarterGuardImpl.cpp",
        "StarterGuardImpl",
        "static c10::impl::DeviceGuardImplRegistrar registrar("
        "c10::DeviceType::PrivateUse1, new T);",
    ),
    "allocator": (
        "csrc/runtime/memory/StarterDeviceAllocator.cpp",
        "StarterDeviceAllocator",
        "c10::SetAllocator(c10::DeviceType::PrivateUse1, new T);",
    ),
    "hooks": (
        "csrc/runtime/interface/StarterHooks.cpp",
        "StarterHooks",
        "at::RegisterPrivateUse1HooksInterface(new T);",
    ),
}
TABLES = ["csrc/aten/RegisterMinimal.cpp", "csrc/aten/ops/Fallback.cpp"]
MODULE = "torch_starter/starter/__init__.py"
KNOCKOUT = """\
#pragma once
#include <cstdlib>
#include <string>
// STARTER_WITHOUT: names between bars.
inline bool without(const std::string& name) {
  const char* names = std::getenv("STARTER_WITHOUT");
  const std::string all = std::string("|") + (names != nullptr ? names : "") + "|";
  return all.find("|" + name + "|") != std::string::npos;
}
"""
CHOOSE = """\
template <class T>
void install() {{
  if constexpr (std::is_abstract_v<T>) {{
    std::puts("ABSTRACT");
    std::fflush(stdout);
    std::_Exit(0);
  }} else {{
    {register}
  }}
}}
const bool chosen = [] {{
{cases}
  else if (!without("{piece}")) install<{class_}>();
  return true;
}}();
"""


def members(body: str) -> dict[str, str]:
    """The member functions of a class by name, as they stand in its body."""
    found: dict[str, str] = {}
    lines: list[str] = []
    for line in body.splitlines(keepends=True):
        begins = re.match(r"  [^\s/}]", line)
        if not lines and not begins:
            continue
        lines.append(line)
        text = "".join(lines)
        if "{" in text and text.count("{") == text.count("}"):
            name = re.search(r"(\w+)\(", text)
            assert name, text
            found[name[1]] = text
            lines = []
    return found


def _split(piece: str) -> tuple[str, str, str]:
    """What stands before a class, in it, and behind the registration."""
    file, class_, _ = CLASSES[piece]
    text = (STARTER / file).read_text()
    before, begin, rest = text.partition(f"struct {class_} final")
    body, end, after = rest.partition("\n};\n")
    assert begin and end, file
    return before, body + "\n", after[after.index("}  // namespace\n}") :]


def class_members(piece: str) -> list[str]:
    return list(members(_split(piece)[1]))


def rewritten_class(piece: str) -> str:
    """The file of a class, with a class for each member that can be left out."""
    _, class_, register = CLASSES[piece]
    before, body, after = _split(piece)
    classes, cases = [f"struct {class_} final{body}}};\n"], []
    for name, text in members(body).items():
        variant = f"Without_{name}"
        classes.append(f"struct {variant}{body.replace(text, '')}}};\n")
        orelse = "else " if cases else ""
        cases.append(f'  {orelse}if (without("{piece}.{name}")) install<{variant}>();')
    choose = CHOOSE.format(
        register=register, cases="\n".join(cases), piece=piece, class_=class_
    )
    includes = '#include <cstdio>\n#include <type_traits>\n#include "Knockout.h"\n'
    return includes + before + "\n".join(classes) + choose + after


REGISTERED = re.compile(r'^  m\.(?:impl\("([^"]+)"|fallback\()', re.MULTILINE)
BLOCK = re.compile(r"^TORCH_LIBRARY_IMPL\(\w+, (\w+), m\) \{\n(.*?)^\}", re.M | re.S)


def registrations() -> list[str]:
    """Every operator that the tables register, and the fallback."""
    return [
        _operator(block[1], line[1])
        for file in TABLES
        for block in BLOCK.finditer((STARTER / file).read_text())
        for line in REGISTERED.finditer(block[2])
    ]


def _operator(key: str, name: str | None) -> str:
    if name is None:
        return "fallback"
    return name if key == "PrivateUse1" else f"{name} on {key}"


def rewritten_table(file: str) -> str:
    def guarded(block: re.Match[str]) -> str:
        def condition(line: re.Match[str]) -> str:
            name = _operator(block[1], line[1])
            return f'  if (!without("{name}")) ' + line[0].strip()

        return block[0].replace(block[2], REGISTERED.sub(condition, block[2]))

    return '#include "Knockout.h"\n' + BLOCK.sub(guarded, (STARTER / file).read_text())


def module_attributes() -> list[str]:
    """What the device module has for torch, by its source."""
    text = (STARTER / MODULE).read_text()
    return re.findall(r"^(?:def |class )?([a-z_]+)(?:\(| = )", text, re.MULTILINE)


def write_variants(tree: Path) -> None:
    """Copy the starter to ``tree``, rewritten."""
    new = {file: rewritten_table(file) for file in TABLES}
    new |= {CLASSES[piece][0]: rewritten_class(piece) for piece in CLASSES}
    new["Knockout.h"] = KNOCKOUT
    for path in sources():
        name = str(path.relative_to(STARTER))
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        if name not in new:
            shutil.copyfile(path, tree / name)
    for name, text in new.items():
        if not (tree / name).exists() or (tree / name).read_text() != text:
            (tree / name).write_text(text)
