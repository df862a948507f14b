# Convolution, LSTM and attention against CPU tensors; see docs/operators/composite.md.
"""Times a training step of three layers on openreg and on CPU tensors in turn.

    python openreg/benchmarks/composite.py [--rounds N]

Each round times the CPU and the device one after the other; the table shows the medians
of the times, and of the rounds' ratios.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F


def step(module: Callable[..., torch.Tensor], *tensors: torch.Tensor) -> float:
    """Return the seconds of a forward and a backward of ``module``."""
    start = time.perf_counter()
    module(*tensors).backward(torch.ones((), device=tensors[0].device))
    torch.openreg.synchronize()
    return time.perf_counter() - start


def convolution(device: str) -> Callable[[], float]:
    layer = torch.nn.Conv2d(32, 64, 3, padding=1).to(device)
    images = torch.randn(16, 32, 32, 32).to(device)
    return lambda: step(lambda x: layer(x).sum(), images)


def lstm(device: str) -> Callable[[], float]:
    layer = torch.nn.LSTM(256, 256).to(device)
    sequence = torch.randn(32, 64, 256).to(device)
    return lambda: step(lambda x: layer(x)[0].sum(), sequence)


def attention(device: str) -> Callable[[], float]:
    tensors = [torch.randn(4, 8, 256, 64) for _ in range(3)]
    leaves = [t.to(device).requires_grad_() for t in tensors]
    return lambda: step(
        lambda *qkv: F.scaled_dot_product_attention(*qkv).sum(), *leaves
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Time steps of three layers.")
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print(f"{'training step':18}{'CPU':>12}{'openreg':>12}{'ratio':>8}")
    for make in (convolution, lstm, attention):
        on_cpu, on_device = make("cpu"), make("openreg")
        on_cpu(), on_device()  # the first call of each only warms up
        pairs = [(on_cpu(), on_device()) for _ in range(rounds)]
        cpu, device = map(statistics.median, zip(*pairs, strict=True))
        ratio = statistics.median(b / a for a, b in pairs)
        times = f"{cpu * 1e3:9.2f} ms{device * 1e3:9.2f} ms{ratio:8.2f}"
        print(f"{make.__name__:18}{times}")


if __name__ == "__main__":
    main()
