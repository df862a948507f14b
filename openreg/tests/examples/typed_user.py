# A program that uses every kind of name, for mypy; see docs/frontend/device-module.md.
"""``nox -s lint`` checks its types; the tests run it."""

import torch

# LITERALINCLUDE START: TYPED_USER
import torch_openreg.openreg as openreg


def work(device: torch.device) -> tuple[str, int, list[float]]:
    """Add on a stream of a device, and return its name, its memory and the sum."""
    properties: openreg.DeviceProperties = openreg.get_device_properties(device)
    stream: openreg.Stream = openreg.Stream(device, priority=-1)
    with openreg.device(device), openreg.stream(stream):
        x = torch.ones(2, device=device) + 1
    stream.synchronize()
    return properties.name, openreg.memory_allocated(device), x.tolist()


def mistakes() -> None:
    """What mypy refuses; it also refuses a comment that hides nothing."""
    openreg.set_device(1.5)  # type: ignore[arg-type]
    openreg.memory_alocated()  # type: ignore[attr-defined]
    torch.openreg.device_count()  # type: ignore[attr-defined]


# LITERALINCLUDE END: TYPED_USER

if __name__ == "__main__":
    print(work(torch.device("openreg", openreg.device_count() - 1)))
