# Programs for a device without a piece; see docs/reference/starter-knockouts.md.
"""Short programs for a device that may lack a piece: each raises if something is wrong.

A process forked from one that has imported torch runs them, one after the other, and
prints a line for each, up to the first that fails. The next process continues behind.
"""

import json
import os
import sys
from collections.abc import Callable

PROGRAMS = {
    "make a tensor": """
x = torch.empty(2, 3, device="starter:1")
assert x.device.index == 1 and torch.accelerator.current_device_index() == 0
""",
    "copy to the device and back": """
assert torch.equal(torch.arange(4.0).to("starter").cpu(), torch.arange(4.0))
""",
    "print": """
x = torch.arange(3.0).to("starter")
assert str(x) == "tensor([0., 1., 2.], device='starter:0')", "a wrong text"
""",
    "item()": """
assert torch.tensor(3.0, device="starter").item() == 3
""",
    "view": """
x = torch.arange(6.0).to("starter")
y = x.view(2, 3)
y.t()[0].fill_(7)
assert x.tolist() == [7, 1, 2, 7, 4, 5], "the view is a copy"
""",
    "reshape a transposed view": """
x = torch.arange(8.0).to("starter")
y = x.view(2, 2, 2).transpose(0, 1).reshape(2, 4)
assert y.tolist() == [[0, 1, 4, 5], [2, 3, 6, 7]]
z = x.view(2, 4)[:, :2].reshape(2, 2, 1)
assert z.data_ptr() == x.data_ptr(), "reshape copies what it could share"
""",
    "unfold": """
x = torch.arange(4.0).to("starter")
x.unfold(0, 2, 1).select(0, 1).fill_(9)
assert x.tolist() == [0, 9, 9, 3], "the view is a copy"
""",
    "complex views": """
x = torch.tensor([1 + 2j]).to("starter")
torch.view_as_complex(torch.view_as_real(x)).fill_(3 + 4j)
assert x.tolist() == [3 + 4j], "the view is a copy"
""",
    "conjugated copy": """
assert torch.tensor([1 + 2j]).to("starter").conj().cpu().tolist() == [1 - 2j]
""",
    "negated copy": """
assert torch.tensor([1 + 2j]).to("starter").conj().imag.cpu().tolist() == [-2]
""",
    "an operator with out=": """
x, y = torch.ones(4).to("starter"), torch.empty(0, device="starter")
torch.add(x, x, out=y)
assert y.tolist() == [2, 2, 2, 2]
""",
    "an operator in place": """
x = torch.ones(2).to("starter")
x.mul_(3)
assert x.tolist() == [3, 3]
""",
    "resize_": """
x = torch.ones(2).to("starter").resize_(3)
assert x.shape == (3,) and x[:2].tolist() == [1, 1]
""",
    "resize a storage": """
x = torch.ones(2).to("starter")
x.untyped_storage().resize_(16)
assert x.untyped_storage().nbytes() == 16 and x.tolist() == [1, 1]
""",
    "set_": """
x, y = torch.ones(4).to("starter"), torch.empty(0, device="starter")
y.set_(x)
assert y.data_ptr() == x.data_ptr(), "set_ copies"
assert y.is_set_to(x), "is_set_to is false"
y.set_()
assert y.numel() == 0, "set_ keeps the memory"
z = torch.empty(0, device="starter").set_(x.untyped_storage())
assert z.data_ptr() == x.data_ptr() and z.shape == (4,)
""",
    "save and load": """
x, file = torch.ones(4).to("starter"), io.BytesIO()
torch.save(x, file)
file.seek(0)
y = torch.load(file)
assert y.device == x.device and y.tolist() == [1] * 4
""",
    "deepcopy": """
assert copy.deepcopy(torch.ones(2).to("starter")).tolist() == [1, 1]
""",
    "lazy clone": """
x = torch.ones(2).to("starter")
y = torch._lazy_clone(x)
y.fill_(5)
assert x.tolist() == [1, 1] and y.tolist() == [5, 5]
""",
    "module.to": """
linear = torch.nn.Linear(1, 1)
weight = linear.weight
assert linear.to("starter").weight is weight, "the parameters are other objects"
""",
    "train": """
torch.manual_seed(0)
model = torch.nn.Linear(3, 2)
reference = copy.deepcopy(model)
x = torch.randn(4, 3)
for device, net in (("starter", model.to("starter")), ("cpu", reference)):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(x.to(device)).square().sum().backward()
    optimizer.step()
assert torch.equal(model.weight.cpu(), reference.weight), "other weights than the CPU's"
""",
    "backward across two devices": """
x = torch.ones(2, device="starter:1", requires_grad=True)
(x.to("starter:0") * 2).sum().backward()
assert x.grad.tolist() == [2, 2]
""",
    "convolution": """
conv = torch.nn.Conv1d(1, 1, 2).to("starter")
conv(torch.ones(1, 1, 4).to("starter")).sum()
""",
    "backward of a convolution": """
conv = torch.nn.Conv1d(1, 1, 2).to("starter")
conv(torch.ones(1, 1, 4).to("starter")).sum().backward()
""",
    "2 // x": """
x = torch.tensor([1.0, 2.0]).to("starter")
assert (2 // x).device == x.device, "the result is on another device"
""",
    "memory is freed": """
for _ in range(40):
    torch.empty(1 << 30, dtype=torch.uint8, device="starter")
""",
    "torch.accelerator": """
acc = torch.accelerator
assert acc.is_available() and acc.device_count() == 2
assert acc.current_accelerator(check_available=True).type == "starter"
acc.set_device_index(1)
assert acc.current_device_index() == 1
acc.set_device_index(0)
""",
    "the accelerator of a process group": """
assert torch._C._get_accelerator().type == "starter"
""",
    "torch.accelerator.synchronize": """
torch.ones(1).to("starter")
torch.accelerator.synchronize()
""",
    "synchronize a stream": """
torch.ones(1).to("starter")
torch.accelerator.current_stream().synchronize()
""",
    "enter a stream": """
with torch.accelerator.current_stream(1):
    pass
torch.accelerator.set_stream(torch.accelerator.current_stream(0))
""",
    "record_stream": """
torch.ones(1).to("starter").record_stream(torch.accelerator.current_stream())
""",
    "time with events": """
start, end = (torch.Event("starter", enable_timing=True) for _ in range(2))
start.record()
end.record()
end.synchronize()
assert end.query() and start.elapsed_time(end) >= 0
""",
    "wait for an event": """
torch.ones(1).to("starter")
event = torch.accelerator.current_stream().record_event()
torch.accelerator.current_stream(1).wait_event(event)
""",
    "memory statistics": """
torch.ones(1).to("starter")
torch.accelerator.memory_allocated()
torch.accelerator.reset_accumulated_memory_stats()
torch.accelerator.reset_peak_memory_stats()
torch.accelerator.empty_cache()
""",
    "torch.starter": """
assert torch.starter.is_available() and torch.starter.device_count() == 2
with torch.starter.device(1):
    assert torch.starter.current_device() == 1
torch.starter.set_device(0)
torch.starter.synchronize()
assert torch.get_device_module("starter") is torch.starter
""",
    "torch.manual_seed": """
with warnings.catch_warnings():
    warnings.simplefilter("error")
    torch.manual_seed(1)
""",
    "fork_rng": """
with torch.random.fork_rng(device_type="starter"):
    torch.rand(1)
""",
    "DataLoader in a child": """
x = torch.ones(1).to("starter")
if (child := os.fork()) == 0:
    try:
        torch.ones(1, device="starter")
    except RuntimeError as error:
        os._exit(3 if "re-initialize" in str(error) else 4)
    os._exit(5)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
assert status == 3, "a forked child does not hear of 'spawn'"
""",
}


def run_from(first: int, piece: str) -> None:
    """Load the starter without a piece, and run the programs from a number on."""
    import copy
    import io
    import warnings

    import torch

    names = {"copy": copy, "io": io, "os": os, "torch": torch, "warnings": warnings}
    os.environ["STARTER_WITHOUT"] = piece
    kind, _, attribute = piece.partition(".")
    if kind != "entry point":  # which is there to import the package
        import torch_starter

        if kind == "module":
            delattr(torch_starter.starter, attribute)
    for program in list(PROGRAMS.values())[first:]:
        error = outcome(program, dict(names))
        print(json.dumps(error), flush=True)
        if error:  # what it left may disturb the next one
            return


def outcome(program: str, names: dict[str, object]) -> str:
    """What went wrong, in one line; empty if nothing did."""
    import torch

    run: Callable[[], None] = lambda: exec(program, names)  # noqa: E731
    try:
        run()
    except Exception as error:
        if "torch_starter" in sys.modules:
            torch.accelerator.set_device_index(0)
        lines = str(error).splitlines() or [""]
        return f"{type(error).__name__}: {lines[0]}"
    return ""


def serve() -> None:
    """For each line `number piece` of stdin, fork; print what the child's end was."""
    import resource

    import torch._dynamo  # noqa: F401  once for all: the first optimizer imports it

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, 1 << 20))  # overflow soon
    for line in sys.stdin:
        first, piece = json.loads(line)
        child = os.fork()
        if child == 0:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            try:
                run_from(first, piece)
            except BaseException as error:
                print(json.dumps(f"IMPORT {type(error).__name__}: {error}"), flush=True)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(f"END {status}", flush=True)


if __name__ == "__main__":
    serve()
