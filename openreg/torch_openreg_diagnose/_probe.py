# Loads the backend and queries torch for its registrations; see docs/ship/diagnose.md.
"""The part of the diagnosis that can fail or die: it runs in a separate process.

Every answer comes from torch or its dispatcher, by a small use of the feature.
"""

import io
import json
import warnings
from collections.abc import Callable
from typing import Any

MARK = "torch_openreg_diagnose: "  # begins the line of the report: others also print
KEYS = (
    "PrivateUse1",
    "AutogradPrivateUse1",
    "AutocastPrivateUse1",
    "SparsePrivateUse1",
    "SparseCsrPrivateUse1",
    "QuantizedPrivateUse1",
    "NestedTensorPrivateUse1",
)


def _reason(error: BaseException) -> str:
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:200]}"


def _asked(torch: Any) -> dict[str, Callable[[], object]]:
    """For each piece a call that returns something about it, or raises without it."""

    def fallbacks() -> str:
        has = torch._C._dispatch_has_backend_fallback
        found = [key for key in KEYS if has(getattr(torch._C.DispatchKey, key))]
        if not found:
            raise LookupError("no dispatch key has a fallback")
        return ", ".join(found)

    def kernels() -> str:
        count = torch._C._dispatch_get_registrations_for_dispatch_key
        return ", ".join(f"{key} {len(count(key))}" for key in KEYS if count(key))

    def allocator() -> str:
        torch.empty(1, device="openreg")
        return f"{torch.accelerator.memory_stats()['num_device_alloc']} segments"

    def host_allocator() -> str:
        if not torch.empty(1).pin_memory().is_pinned():
            raise LookupError("pin_memory() does not pin the memory")
        return "pin_memory() works"

    def serialization() -> str:
        tagged = torch.empty(1, device="openreg")
        torch.openreg.set_tensor_tags(tagged, {"diagnose": True})
        file = io.BytesIO()
        torch.save(tagged, file)
        file.seek(0)
        if not torch.openreg.get_tensor_tags(torch.load(file)):
            raise LookupError("torch.save does not keep the tags of a tensor")
        return "torch.save keeps the tags of a tensor"

    def autocast() -> str:
        dtypes = torch.openreg.get_amp_supported_dtype()
        if not dtypes:
            raise LookupError("no dtype is supported")
        x = torch.ones(2, 2, device="openreg")
        with torch.autocast("openreg", dtypes[0]):
            if (x @ x).dtype != dtypes[0]:
                raise LookupError(f"a product is not computed in {dtypes[0]}")
        return ", ".join(map(str, dtypes))

    def profiler() -> str:
        kinds = torch.profiler.ProfilerActivity
        with torch.profiler.profile(activities=[kinds.PrivateUse1]) as profile:
            torch.ones(1, device="openreg").add_(1).cpu()
        kind = torch._C._autograd.DeviceType.PrivateUse1
        found = [event for event in profile.events() if event.device_type == kind]
        if not found:
            raise LookupError("a profile contains no event of the device")
        return f"{len(found)} events"

    def distributed() -> str:
        if not torch.distributed.is_available():
            raise LookupError("this torch has no torch.distributed")
        return str(torch.distributed.Backend.default_device_backend_map["openreg"])

    def log() -> str:
        from torch._logging._internal import log_registry

        return str(log_registry.log_alias_to_log_qnames["openreg"])

    # LITERALINCLUDE START: DIAGNOSE_ASKED
    return {
        "name": lambda: torch.device("openreg").type,
        "device module": lambda: torch.get_device_module("openreg").__name__,
        "methods": lambda: torch.Tensor.openreg.__name__,
        "log name": log,
        "guard": lambda: f"device {torch._C._accelerator_getDeviceIndex()} is current",
        "hooks": lambda: f"the accelerator is {torch._C._get_accelerator()}",
        "device allocator": allocator,
        "host allocator": host_allocator,
        "generator": lambda: f"on {torch.Generator('openreg').device}",
        "serialization": serialization,
        "kernels": kernels,
        "fallbacks": fallbacks,
        "autocast": autocast,
        "graph": lambda: type(torch.accelerator.Graph()).__name__,
        "profiler": profiler,
        "distributed backend": distributed,
    }
    # LITERALINCLUDE END: DIAGNOSE_ASKED


def probe() -> dict[str, Any]:
    """Return what works, and the last error."""
    result: dict[str, Any] = {"loaded": False, "error": None}
    try:
        import torch
        import torch_openreg.openreg as openreg  # autoload may be off
    except BaseException as error:
        cause = error.__cause__ or error  # torch wraps what a backend raises
        return result | {"error": _reason(cause)}
    result["loaded"] = True
    result["torch"] = {
        "imported": f"{torch.__version__} from {torch.__file__}",
        "cuda": torch.version.cuda or "not in this build",
        "cxx11 abi": torch.compiled_with_cxx11_abi(),
        "debug build": torch.version.debug,
        "accelerator": str(torch.accelerator.current_accelerator()),
    }
    devices, registered, missing = {}, {}, {}
    try:
        for index in range(openreg.device_count()):
            properties = openreg.get_device_properties(index)._asdict()
            free, total = openreg.mem_get_info(index)
            memory = {"free_memory": free, "total_memory": total}
            devices[f"openreg:{index}"] = properties | memory
        if not devices:
            openreg.set_device(0)  # says why
    except Exception as error:
        result["error"] = _reason(error)
    for name, ask in _asked(torch).items():
        try:
            registered[name] = ask()
        except Exception as error:
            missing[name] = _reason(error)
    fallback = {
        "mode": openreg.fallback_mode(),
        "fell back here": str(openreg.fallback_counts()),
    }
    parts = {"registered": registered, "missing": missing, "fallback": fallback}
    return result | {"devices": devices} | parts


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(f"\n{MARK}{json.dumps(probe())}", flush=True)
