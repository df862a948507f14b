# Asks a torch which gaps it still has, without a backend; see docs/ship/upgrading.md.
"""Run it with TORCH_DEVICE_BACKEND_AUTOLOAD=0: it registers its own device.

Prints a line of JSON: for each gap whether it is still there. A gap whose probe kills
its process counts as there, so each of those runs in a child.
"""

import faulthandler
import inspect
import json
import os
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch
import torch.distributed
from torch.nn.attention import flex_attention
from torch.utils import backend_registration


# LITERALINCLUDE START: PROBES
def no_stream_differs_from_none() -> bool:
    different = torch.Stream("bare") != None  # noqa: E711  what is asked
    return not different


def an_empty_host_cache_ends_the_process() -> bool:
    return ends(torch.accelerator.empty_host_cache)


def dlpack_compares_a_name_that_no_device_has() -> bool:
    source = inspect.getsource(torch.Tensor.__dlpack_device__)
    return 'self.device.type == "privateuse1"' in source


# LITERALINCLUDE END: PROBES
def flex_attention_has_a_closed_list() -> bool:
    return "is only supported on CUDA, CPU" in inspect.getsource(flex_attention)


def there_is_no_pool_of_memory() -> bool:
    return not any("pool" in name.lower() for name in dir(torch.accelerator))


def python_cannot_derive_from_a_c10d_backend() -> bool:
    class Backend(torch._C._distributed_c10d.Backend):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__(0, 1)

    try:
        Backend()
    except TypeError as error:
        return "No constructor defined" in str(error)
    return False


def communication_backends_have_no_entry_point() -> bool:
    return not hasattr(torch.distributed.Backend, "_ensure_backend_registered")


def inductor_has_no_hook_of_its_own() -> bool:
    from torch._inductor.codegen import common

    return "_inductor_backend_init" not in inspect.getsource(common)


def ends(call: Callable[[], Any]) -> bool:
    """Return whether the call ends the process, without ending this one."""
    child = os.fork()
    if child == 0:
        faulthandler.disable()  # a crash is one of the two answers
        try:
            call()
        finally:
            os._exit(0)
    return os.waitpid(child, 0)[1] != 0


PROBES = [
    no_stream_differs_from_none,
    an_empty_host_cache_ends_the_process,
    dlpack_compares_a_name_that_no_device_has,
    flex_attention_has_a_closed_list,
    there_is_no_pool_of_memory,
    python_cannot_derive_from_a_c10d_backend,
    communication_backends_have_no_entry_point,
    inductor_has_no_hook_of_its_own,
]


def main() -> None:
    class Device:
        _lazy_init = staticmethod(lambda: None)
        is_available = staticmethod(lambda: True)

    warnings.simplefilter("ignore")
    backend_registration._setup_privateuseone_for_python_backend("bare", Device())
    with suppress(NotImplementedError):  # it starts the device, and has no kernel
        torch.empty(1, device="bare")
    found = {probe.__name__.replace("_", " "): probe() for probe in PROBES}
    print(json.dumps({"torch": torch.__version__, "gaps": found}))


if __name__ == "__main__":
    main()
    sys.stdout.flush()
