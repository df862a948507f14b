# Features that a case may need, and how to try them; see docs/ship/conformance.md.
from __future__ import annotations

from collections.abc import Callable

import torch
from torch.profiler import ProfilerActivity, supported_activities

from torch_conformance._device import Device
from torch_conformance._outcome import Missing

ACTIVITIES = {"cuda": "CUDA", "xpu": "XPU"}  # of the profiler; PrivateUse1
FEATURES: dict[str, Callable[[Device], object]] = {}


def feature(probe: Callable[[Device], object]) -> Callable[[Device], object]:
    """Declare a feature; its probe raises, or returns false, where it is missing."""
    FEATURES[probe.__name__.replace("_", " ")] = probe
    return probe


@feature
def streams(d: Device) -> object:
    """Streams other than the default one."""
    default = torch.accelerator.current_stream()
    return torch.Stream(d()).stream_id != default.stream_id


@feature
def two_devices(d: Device) -> object:
    """A second device: the machine may have one only."""
    return d.module.device_count() > 1


@feature
def events(d: Device) -> object:
    """Events that can be recorded."""
    event = torch.Event(d.type)
    event.record()
    return True


@feature
def memory_statistics(d: Device) -> object:
    """An allocator that counts."""
    return "allocated_bytes.all.current" in torch.accelerator.memory_stats()


@feature
def pinned_memory(d: Device) -> object:
    """Host memory that the device reads directly."""
    return torch.empty(1).pin_memory().is_pinned()


@feature
def generators(d: Device) -> object:
    """Random numbers of the device."""
    return torch.Generator(d()).device.type == d.type


@feature
def autocast(d: Device) -> object:
    """Mixed precision."""
    return torch.amp.is_autocast_available(d.type)


@feature
def graphs(d: Device) -> object:
    """Capture and replay."""
    return torch.accelerator.Graph()


@feature
def profiler(d: Device) -> object:
    """Records of the device's activity."""
    activity = getattr(ProfilerActivity, ACTIVITIES.get(d.type, "PrivateUse1"))
    return activity in supported_activities() and d.type not in ("cpu", "mps")


@feature
def process_groups(d: Device) -> object:
    """A communication library for the device."""
    return torch.distributed.get_default_backend_for_device(d.type)


def require(device: Device, names: tuple[str, ...]) -> None:
    """Raise ``Missing`` if the device lacks one of the features."""
    for name in names:
        try:
            there = FEATURES[name](device)
        except Exception as error:
            text = str(error).partition("\n")[0]
            raise Missing(f"no {name}: {type(error).__name__}: {text}") from error
        if not there:
            raise Missing(f"no {name}")
