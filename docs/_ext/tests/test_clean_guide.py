"""A guide that keeps the contract builds without a warning, and shows what it should.

Explained in CONTRIBUTING.md, "Writing a chapter".
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from small_guide import Project, include, mark

SOURCE = """
import openreg

class Device:
""" + mark(
    "GRAPH",
    "    def name(self):",
    "        return 'openreg'  # (1)",
    comment="    #",
)
CPP = "#include <x.h>\n" + mark(
    "GRAPH_ADD", "int add(int a, int b) { return a + b; }", comment="//"
)
QUOTED = "enum class DeviceType : int8_t {\n  CPU = 0,\n  PrivateUse1 = 20,"
PAGE = (
    include(
        "../openreg/device.py",
        "GRAPH",
        ":emphasize-text: |",
        ":  return",
        ":  def name",
        ":caption: the device",
    ),
    "1. The name that `torch.device` takes.\n",
    "::::{tab-set}\n:::{tab-item} C++\n",
    include("../openreg/add.cpp", "GRAPH_ADD", language="cpp"),
    ":::\n:::{tab-item} Python\n",
    "```{doctest}\n>>> print('a\\n\\nb')\na\n<BLANKLINE>\nb\n```\n",
    ":::\n::::\n",
    "- in a list\n\n  ```{transcript}\n  $ echo one\n  one\n  ```\n",
    "```{illustrative} cpp\n:reason: needs a vendor's compiler\nvendorInit();\n```\n",
    "```{torch-quote} include/DeviceType.h\n:match: |\n:  enum class DeviceType\n"
    ":  PrivateUse1 = 20\n"
    f":sha256: {hashlib.sha256(QUOTED.encode()).hexdigest()}\n```\n",
    "```text\ndocs/\n  index.md\n```\n",
    "![a square](square.svg)\n",
    "```{raw} html\n<svg><title>a square</title></svg>\n```\n",
)


@pytest.fixture
def guide(project: Project) -> Project:
    project.write("openreg/device.py", SOURCE)
    project.write("openreg/add.cpp", CPP)
    project.write("torch/version.py", "__version__ = '2.13.0+cpu'\n")
    project.write("torch/include/DeviceType.h", f"// types\n{QUOTED}\n}};\n")
    project.write("docs/square.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>")
    project.conf += f"contract_torch_root = {str(project.root / 'torch')!r}\n"
    project.page(*PAGE)
    return project


def test_builds_without_a_warning(guide: Project) -> None:
    assert guide.build("html") == []
    html = Path(guide.out, "index.html").read_text(encoding="utf-8")
    assert 'data-open-file="openreg/device.py"' in html
    assert 'href="_files/openreg/device.py.html#line-6"' in html
    assert "the device" in html
    assert html.count('class="hll"') == 2
    assert "Not run: needs a vendor" in html
    assert "line 2 in torch 2.13.0" in html
    assert "LITERALINCLUDE" not in html
    assert "BLANKLINE" not in html
    whole = Path(guide.out, "_files/openreg/device.py.html").read_text(encoding="utf-8")
    assert 'id="line-6" class="file-line shown" data-line="6"' in whole
    assert 'id="line-5"' not in whole  # a marker
    assert 'shown in <a href="../../index.html">' in whole  # and no list of chapters


def test_snippet_is_dedented(guide: Project) -> None:
    guide.build("html")
    html = Path(guide.out, "index.html").read_text(encoding="utf-8")
    assert '<span class="k">def</span>' in html
    assert '    <span class="k">def</span>' not in html


def test_strict_command_line_accepts_it_and_refuses_a_fault(guide: Project) -> None:
    guide.conf = f"import sys; sys.path.insert(0, {str(EXT)!r})\n" + guide.conf
    guide.build()
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-n", "-E", "--keep-going"]
    command += ["-b", "dummy", str(guide.docs), str(guide.out)]
    assert subprocess.run(command, check=False).returncode == 0
    guide.page(*PAGE, "```python\nprint(1)\n```\n")
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert "[contract.bare]" in done.stderr


EXT = Path(__file__).resolve().parents[1]
