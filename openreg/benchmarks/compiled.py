# Compiled functions against eager ones and the CPU; see
# docs/modules/compile-inductor.md.
"""Times compiled code of the device, of the CPU, eager code and replays in one run.

    python openreg/benchmarks/compiled.py [--rounds N]

Each round times both sides of a row one after the other; the table shows the medians of
the times, and of the rounds' ratios.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import torch
from torch import nn

Call = Callable[[], object]


def timed(call: Call, repeat: int = 1) -> float:
    """Return the seconds of a call, the work of the device included."""
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    torch.openreg.synchronize()
    return (time.perf_counter() - start) / repeat


def training(make: Callable[[], nn.Module], *shape: int) -> Callable[[str], Call]:
    def on(device: str) -> Call:
        torch.manual_seed(0)
        net, x = make().to(device), torch.randn(*shape).to(device)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
        forward = torch.compile(net)

        def step() -> None:
            optimizer.zero_grad()
            forward(x).square().mean().backward()
            optimizer.step()

        return step

    return on


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512))


def cnn() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(16, 32, 3, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2)
    )


def transformer() -> nn.Module:
    return nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)


def large(x: torch.Tensor) -> torch.Tensor:
    return (x.sin() * 2 + x.exp()).sum()


def tiny(x: torch.Tensor) -> torch.Tensor:
    return x * 2 + 1


def replayed(function: Callable[[torch.Tensor], object], x: torch.Tensor) -> Call:
    stream, graph = torch.openreg.Stream(), torch.accelerator.Graph()
    with stream:
        function(x)
    with stream, graph:
        function(x)
    return graph.replay


def rows() -> dict[str, tuple[Call, Call, int]]:
    """What is timed, what it is compared with, and how many calls a round makes."""
    steps = {
        "MLP step, device / CPU": training(mlp, 64, 512),
        "CNN step, device / CPU": training(cnn, 16, 16, 32, 32),
        "Transformer step, device / CPU": training(transformer, 4, 128, 256),
    }
    found = {name: (on("openreg"), on("cpu"), 1) for name, on in steps.items()}
    x, small = torch.rand(1 << 20, device="openreg"), torch.rand(8, device="openreg")
    on_cpu, compiled, fused = torch.rand(8), torch.compile(tiny), torch.compile(large)
    call = lambda: compiled(small)  # noqa: E731
    found["1 M elements, compiled / eager"] = (
        (lambda: fused(x)),
        (lambda: large(x)),
        1,
    )
    found["tiny, device / CPU"] = (call, (lambda: compiled(on_cpu)), 200)
    found["tiny, replay / call"] = (replayed(compiled, small), call, 200)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="Time compiled functions.")
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    print(f"{'':32}{'this':>12}{'other':>12}{'ratio':>8}")
    for name, (this, other, repeat) in rows().items():
        timed(this), timed(other), timed(this), timed(other)  # compile, warm up
        pairs = [(timed(this, repeat), timed(other, repeat)) for _ in range(rounds)]
        one, two = map(statistics.median, zip(*pairs, strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        print(f"{name:32}{one * 1e6:9.1f} us{two * 1e6:9.1f} us{ratio:8.2f}")


if __name__ == "__main__":
    main()
