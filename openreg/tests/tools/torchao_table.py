# Writes docs/reference/torchao-table.md; see docs/modules/torchao.md.
"""Quantizes a model with each configuration of torchao; run it to write the page.

python openreg/tests/tools/torchao_table.py

It needs torchao, so it runs in the environment of `nox -s clients`.
"""

import copy
import io
import logging
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

logging.disable(logging.WARNING)  # of extensions in C++ that torchao does not find
import torchao.quantization as ao  # noqa: E402
from torchao.quantization.pt2e.quantize_pt2e import (  # noqa: E402
    convert_pt2e,
    prepare_pt2e,
    prepare_qat_pt2e,
)
from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer  # noqa: E402
from torchao.quantization.qat import QATConfig  # noqa: E402

logging.disable(logging.NOTSET)

PAGE = Path(__file__).resolve().parents[3] / "docs/reference/torchao-table.md"
HEAD = """\
# torchao, configuration by configuration

This page shows what each configuration of torchao {torchao} does on your device, with
torch {torch}. The model has two linear layers in bfloat16, whose sizes are multiples of
64, and a batch of 16. `openreg/tests/tools/torchao_table.py` ran each row on the device
and on the CPU, and wrote this page. `nox -s clients` runs it again and compares.

* **openreg**: *native* if no operator fell back. Otherwise the operators that did, and
  how often, or the error.
* **CPU**: whether the result is that of the same configuration on the CPU. For an
  error, what the CPU says.
* **error**: the norm of the difference from the model without quantization, relative
  to the norm of its result.
* **loaded**: whether a model on the second device, with what `torch.load` read from a
  file of the first, has the same result.
* **compiled**: whether `torch.compile` with `fullgraph=True` and the backend
  `aot_eager` has the same result.

[torchao](../modules/torchao.md) explains these rows. Python 3.11.0 to 3.11.3 stores
an enumeration as a call of `getattr`, which `torch.load` rejects. With these releases,
the second and the fifth configuration cannot be loaded from a file.

| configuration | openreg | CPU | error | loaded | compiled |
|---|---|---|---|---|---|
"""
WIDTH = 64
NO_CUDA = "Torch not compiled with CUDA enabled"
GROUP = ao.PerGroup(32)
Step = Callable[[nn.Module], nn.Module]


class Outcome(NamedTuple):
    """What one configuration did on one device."""

    found: str  # "native", what fell back, or an error
    result: torch.Tensor | None = None
    error: float = 0.0
    loaded: str = ""
    compiled: str = ""


def model(device: str) -> nn.Module:
    torch.manual_seed(0)
    layers = [nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH)]
    return nn.Sequential(*layers).to(device, torch.bfloat16).eval()


def batch(device: str) -> torch.Tensor:
    torch.manual_seed(1)
    return torch.randn(16, WIDTH).to(device, torch.bfloat16)


# -- the configurations --


def eager(make: Callable[[], object]) -> Step:
    def quantize(net: nn.Module) -> nn.Module:
        ao.quantize_(net, make())
        return net

    return quantize


def aware(make: Callable[[], object]) -> Step:
    """Train for two steps with fake quantization, then quantize."""

    def train(net: nn.Module) -> nn.Module:
        x = batch(next(net.parameters()).device.type)
        ao.quantize_(net, QATConfig(make(), step="prepare"))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(2):
            optimizer.zero_grad()
            net(x).square().mean().backward()
            optimizer.step()
        ao.quantize_(net, QATConfig(make(), step="convert"))
        return net

    return train


def exported(training: bool) -> Step:
    """Quantize the graph of the model, with the quantizer for CPUs."""

    def quantize(net: nn.Module) -> nn.Module:
        net, x = net.float(), batch(next(net.parameters()).device.type).float()
        quantizer = x86_inductor_quantizer.X86InductorQuantizer()
        quantizer.set_global(
            x86_inductor_quantizer.get_default_x86_inductor_quantization_config(
                is_qat=training
            )
        )
        graph = torch.export.export(net, (x,)).module()
        prepare = prepare_qat_pt2e if training else prepare_pt2e
        prepared = prepare(graph, quantizer)
        prepared(x)
        return convert_pt2e(prepared)

    return quantize


def int4(packing: str) -> Step:
    return eager(
        lambda: ao.Int4WeightOnlyConfig(group_size=32, int4_packing_format=packing)
    )


def intx() -> object:
    return ao.Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int4, weight_granularity=GROUP
    )


CONFIGURATIONS: dict[str, Step] = {
    "`Int8WeightOnlyConfig()`": eager(ao.Int8WeightOnlyConfig),
    "`Int8DynamicActivationInt8WeightConfig()`": eager(
        ao.Int8DynamicActivationInt8WeightConfig
    ),
    "`IntxWeightOnlyConfig(torch.int4, PerGroup(32))`": eager(
        lambda: ao.IntxWeightOnlyConfig(torch.int4, GROUP)
    ),
    "`Int8DynamicActivationIntxWeightConfig`, int4 in groups of 32": eager(intx),
    "`Float8WeightOnlyConfig()`": eager(ao.Float8WeightOnlyConfig),
    "`Float8DynamicActivationFloat8WeightConfig()`": eager(
        ao.Float8DynamicActivationFloat8WeightConfig
    ),
    "`Float8DynamicActivationInt4WeightConfig()`": eager(
        ao.Float8DynamicActivationInt4WeightConfig
    ),
    **{
        f'`Int4WeightOnlyConfig`, packed as `"{packing}"`': int4(packing)
        for packing in ("plain", "preshuffled", "plain_int32", "tile_packed_to_4d")
    },
    "`QATConfig` of the fourth row: two steps, then convert": aware(intx),
    "PT2E, `X86InductorQuantizer`": exported(training=False),
    "PT2E, `X86InductorQuantizer`, `prepare_qat_pt2e`": exported(training=True),
}


# -- what they do --


def same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool((one - other).norm() <= 1e-3 * other.norm())


def reloaded(net: nn.Module) -> nn.Module:
    """A copy with what is in a file of the model, on the second device."""
    file = io.BytesIO()
    torch.save(net.state_dict(), file)
    file.seek(0)
    other = copy.deepcopy(net)
    other.load_state_dict(torch.load(file, map_location="openreg:1"), assign=True)
    return other


def attempt(make: Callable[[], nn.Module], x: torch.Tensor, y: torch.Tensor) -> str:
    try:
        with torch.no_grad():
            return "yes" if same(make()(x).to(y.device), y) else "**wrong**"
    except Exception as error:  # whatever it is: the page shows it
        return words(error)


def words(error: Exception) -> str:
    line = str(error).partition("\n")[0].replace("|", "\\|")
    if "NVIDIA driver" in line:  # a CUDA build; the page is the same for both
        return f"`AssertionError: {NO_CUDA}`"
    return f"`{type(error).__name__}: {line}`"


def outcome(configure: Step, device: str) -> Outcome:
    x = batch(device)
    with torch.no_grad():
        exact = model(device)(x).float()
    torch._dynamo.reset()
    try:
        with torch.openreg.fallbacks() as counts:
            net = configure(model(device))
            x = x.to(next((t.dtype for t in net.parameters()), torch.float32))
            with torch.no_grad():
                y = net(x)
    except Exception as error:  # as above
        return Outcome(words(error))
    fell = ", ".join(f"`{name}` {count}" for name, count in sorted(counts.items()))
    return Outcome(
        f"falls back: {fell}" if fell else "native",
        y.float().cpu(),
        ((y.float() - exact).norm() / exact.norm()).item(),
        attempt(lambda: reloaded(net), x.to("openreg:1"), y),
        attempt(lambda: torch.compile(net, backend="aot_eager", fullgraph=True), x, y),
    )


def row(name: str) -> str:
    """A line of the table."""
    here, cpu = (outcome(CONFIGURATIONS[name], d) for d in ("openreg", "cpu"))
    if here.result is None or cpu.result is None:
        agrees = "the same" if here.found == cpu.found else cpu.found
        return f"| {name} | {here.found} | {agrees} | | | |"
    agrees = "yes" if same(here.result, cpu.result) else "**wrong**"
    cells = [name, here.found, agrees, f"{here.error:.3f}", here.loaded, here.compiled]
    return f"| {' | '.join(cells)} |"


def page() -> str:
    """Return the text of the page."""
    versions = {name: version(name).split("+")[0] for name in ("torch", "torchao")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns about what torchao calls
        rows = [row(name) for name in CONFIGURATIONS]
    return HEAD.format(**versions) + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
