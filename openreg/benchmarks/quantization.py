# Quantized layers against float32; see docs/modules/quantized-weights.md.
"""Times a forward of linear layers in float32, weight-only int8 and dynamic int8.

    python openreg/benchmarks/quantization.py [--rounds N] [--width N] [--batch N]

Each round times all of them in turn, on the CPU and on the device; the table shows the
medians of the times, and of the rounds' ratios to float32 on the same device.
"""

import argparse
import copy
import statistics
import sys
import time
from pathlib import Path

import torch
from torch import nn

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests/examples/quantized"))
from int8_weight import quantize  # noqa: E402


def layers(width: int) -> nn.Module:
    torch.manual_seed(0)
    made = [nn.Sequential(nn.Linear(width, width), nn.GELU()) for _ in range(4)]
    return nn.Sequential(*made)


def variants(width: int) -> dict[str, nn.Module]:
    exact = layers(width)
    dynamic = quantize(copy.deepcopy(exact), dynamic=True)
    return {
        "float32": exact,
        "weight-only": quantize(copy.deepcopy(exact)),
        "dynamic": dynamic,
        "dynamic, compiled": dynamic,
    }


def milliseconds(model: nn.Module, x: torch.Tensor) -> float:
    torch.accelerator.synchronize()
    start = time.perf_counter()
    model(x)
    torch.accelerator.synchronize()
    return (time.perf_counter() - start) * 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description="Time quantized layers.")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=64)
    options = parser.parse_args()
    x = torch.randn(options.batch, options.width)
    print(f"{'device':9}{'weights':20}{'time':>12}{'ratio':>8}")
    for device in ("cpu", "openreg"):
        given = x.to(device)
        models = {}
        for name, model in variants(options.width).items():
            moved = model.to(device)
            models[name] = torch.compile(moved) if "compiled" in name else moved
        with torch.no_grad():
            for model in models.values():
                model(given), model(given)  # compiles, and warms up
            rounds = [
                {name: milliseconds(model, given) for name, model in models.items()}
                for _ in range(options.rounds)
            ]
        for name in models:
            median = statistics.median(times[name] for times in rounds)
            ratio = statistics.median(t[name] / t["float32"] for t in rounds)
            print(f"{device:9}{name:20}{median:9.2f} ms{ratio:8.2f}")


if __name__ == "__main__":
    main()
