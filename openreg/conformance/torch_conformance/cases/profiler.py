# Level 5: the profiler; see docs/ship/conformance.md.
from __future__ import annotations

import torch
from torch.profiler import ProfilerActivity, profile

from torch_conformance._case import Area
from torch_conformance._device import Device, check
from torch_conformance._features import ACTIVITIES
from torch_conformance._slow import SLOW

area = Area(
    "profiler",
    level=5,
    stage=8,
    page="modules/profiler",
    implement="libkineto::IActivityProfiler, registered with "
    "libkineto::api().registerProfilerFactory",
)


@area.case("Operators of the device are recorded.")
def operators(d: Device) -> None:
    x = torch.ones(8, 8, device=d.type)
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        torch.mm(x, x)
        d.synchronize()
    names = {event.key for event in profiled.key_averages()}
    check("aten::mm" in names, f"aten::mm is not recorded: {sorted(names)[:9]}")


@area.case("A kernel is recorded with the time that it took.", "profiler")
def kernels(d: Device) -> None:
    x = torch.ones(8, 8, device=d.type)
    d.warm(lambda: torch.mm(x, x))
    activities = [
        ProfilerActivity.CPU,
        getattr(ProfilerActivity, ACTIVITIES.get(d.type, "PrivateUse1")),
    ]
    with profile(activities=activities) as profiled:
        d.slow()
        torch.mm(x, x)
        d.synchronize()
    most = max(event.device_time_total for event in profiled.key_averages())
    check(most > 0.5e6 * SLOW, f"{most:.0f} us are recorded for {1e6 * SLOW:.0f} us")
