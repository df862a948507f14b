# Level 5: mixed precision; see docs/ship/conformance.md.
from __future__ import annotations

import torch
from torch.utils.checkpoint import checkpoint

from torch_conformance._case import Area
from torch_conformance._device import Device, check, same

area = Area(
    "mixed precision",
    level=5,
    stage=7,
    page="modules/amp",
    implement="TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m), torch/library.h; "
    "`get_amp_supported_dtype()` of the device module",
)


@area.case(
    "Products run in the lower precision, sums of exponentials do not.", "autocast"
)
def casts(d: Device) -> None:
    x = d.on(torch.linspace(-1, 1, 64).view(8, 8))
    dtype = (
        d.module.get_amp_supported_dtype()[0]
        if d.type not in ("cpu", "cuda")
        else (torch.bfloat16)
    )
    with torch.autocast(d.type, dtype):
        product, softmax = x @ x, (x @ x).softmax(-1)
        for result in (product, torch.mm(x, x)):  # `@` calls aten::matmul
            check(result.dtype == dtype, f"a product in {result.dtype}")
        check(softmax.dtype == torch.float32, f"softmax in {softmax.dtype}")
        check((product + x).dtype == torch.float32, "add does not promote")
        with torch.autocast(d.type, enabled=False):
            check((x @ x).dtype == torch.float32, "it cannot be switched off")
    check((x @ x).dtype == torch.float32, "it is on behind the context")
    expected = x.cpu() @ x.cpu()
    torch.testing.assert_close(product.float().cpu(), expected, rtol=0.05, atol=0.05)


@area.case("A step with a gradient scaler is skipped only for infinite gradients.")
def scaler(d: Device) -> None:
    scaler = torch.amp.GradScaler(d.type, init_scale=8.0)
    weight = torch.nn.Parameter(torch.ones(3, device=d.type))
    optimizer = torch.optim.SGD([weight], 1.0)
    for factor, expected, scale in ((1.0, 0.0, 8.0), (float("inf"), 0.0, 4.0)):
        optimizer.zero_grad()
        scaler.scale((weight * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        same(weight.detach(), torch.full((3,), expected), f"gradients of {factor}")
        check(scaler.get_scale() == scale, f"the scale is {scaler.get_scale()}")


@area.case("A checkpoint repeats the forward pass with the same precision.", "autocast")
def checkpoints(d: Device) -> None:
    host = torch.linspace(-1, 1, 16).view(4, 4)
    found = []
    for place in ("cpu", d.type):
        x = host.to(place, copy=True).requires_grad_()
        checkpoint(torch.mm, x, x * 2, use_reentrant=False).sum().backward()
        found.append(x.grad)
    same(found[1], found[0], "gradient")
