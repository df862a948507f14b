# Writes docs/reference/autocast-table.md; see docs/modules/amp.md.
"""Makes the page out of torch's header and of its dispatcher; run it to write the page.

python openreg/tests/tools/autocast_table.py
"""

import re
from pathlib import Path

import torch

PAGE = Path(__file__).resolve().parents[3] / "docs/reference/autocast-table.md"
HEADER = Path(torch.__file__).parent / "include/ATen/autocast_mode.h"
KEYS = ["AutocastPrivateUse1", "AutocastCUDA", "AutocastXPU", "AutocastCPU"]
LISTS = {
    "AT_FORALL_LOWER_PRECISION_FP": "the dtype of autocast",
    "AT_FORALL_FP32": "float32",
    "AT_FORALL_FP32_SET_OPT_DTYPE": "float32, as `dtype=`",
    "AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE": "float32, as `dtype=`",
    "AT_FORALL_PROMOTE": "the widest of the inputs",
}
OWN = {"binary_cross_entropy": "refused"}
CUDA_BUILD = {"_cudnn_rnn"}  # rules of CUDA that the CPU build of torch does not have
HEAD = """\
# Autocast, operator by operator

This table lists in which dtype each operator computes under `torch.autocast`, with
torch {version}. The policy is that of the list in `ATen/autocast_mode.h` that names the
operator, although the CPU can have another one. The other columns show whether the
dispatcher has a rule of the operator for the device. A test compares this page with
both. An operator that is missing has no rule anywhere, and computes in the dtypes of
its arguments. [Mixed precision](../modules/amp.md) explains the policies.

{counts}

Where the policy is empty, torch has the rule in its own sources, and not in the header.
Only a CUDA build of torch has the rule for {cuda_build}.
"""


def policies() -> dict[str, str]:
    """The operators of torch's lists, such as ``conv_transpose2d.input``."""
    text = HEADER.read_text().replace("\\\n", " ")
    found = {}
    for name, policy in LISTS.items():
        body = re.search(rf"#define {name}\(_\)(.*)", text)[1]
        if name == "AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE":
            operators = re.findall(r'"([\w.]+)"', body)
        else:
            entries = re.findall(r"_\((\w+)(?:, (\w+))?\)", body)
            operators = [".".join(filter(None, entry)) for entry in entries]
        found.update(dict.fromkeys(operators, policy))
    return found


def registered(key: str) -> set[str]:
    """The operators that have their own rule for a key."""
    names = torch._C._dispatch_get_registrations_for_dispatch_key(key)
    return {name.removeprefix("aten::") for name in names if name.startswith("aten::")}


def page() -> str:
    """Return the text of the page."""
    rules = {key: registered(key) for key in KEYS}
    rules["AutocastCUDA"] |= CUDA_BUILD  # the page is the same for both builds
    policy = policies() | OWN
    names = sorted(set(policy).union(*rules.values()), key=str.lower)
    devices = {key: key.removeprefix("Autocast") for key in KEYS}
    devices["AutocastPrivateUse1"] = "openreg"
    counts = [f"{len(rules[key])} for {devices[key]}" for key in KEYS]
    version = torch.__version__.split("+")[0]
    sentence = f"Rules: {', '.join(counts)}."
    cuda_build = ", ".join(f"`{name}`" for name in sorted(CUDA_BUILD))
    lines = [HEAD.format(version=version, counts=sentence, cuda_build=cuda_build)]
    lines.append(f"| operator | policy | {' | '.join(devices.values())} |")
    lines.append("|---|---|" + ":-:|" * len(KEYS))
    for name in names:
        cells = ["yes" if name in rules[key] else "" for key in KEYS]
        lines.append(f"| `{name}` | {policy.get(name, '')} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
