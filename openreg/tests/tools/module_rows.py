# Why torch looks an attribute up; see docs/reference/device-module-table.md.
"""The rows of the table of the device module: what for, and what happens without.

``code`` is a small use of the attribute that sets ``result``; ``given`` is what that is
on openreg, ``without`` what it is when the module lacks the attribute. Both are
measured by openreg/tests/frontend/test_device_module_table.py.
"""

from dataclasses import dataclass

FSDP = """
from torch.distributed.fsdp._common_utils import _FSDPDeviceHandle
handle = _FSDPDeviceHandle.from_device(torch.device("openreg"))
"""
NOT_FSDP = "AttributeError: Custom backend 'openreg' not implement 'torch.openreg.{}'"
LOADER = """
from torch.distributed.checkpoint.filesystem import _OverlappingCpuLoader
loader = _OverlappingCpuLoader(lambda x: x)
loader.add(8, torch.ones(2, device="openreg"))
loader.start_loading()
result = [tensor.tolist() for tensor, _ in loader.values()]
"""
TRACKER = """
from torch.distributed._tools.memory_tracker import MemoryTracker
tracker = MemoryTracker()
model = torch.nn.Linear(2, 2).to("openreg")
tracker.start_monitor(model)
model(torch.ones(1, 2, device="openreg"))
tracker.stop()
result = len(tracker.memories_allocated) > 0
"""
MESH = """
import os
os.environ["LOCAL_RANK"] = "1"
store = torch.distributed.HashStore()
torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
torch.distributed.init_device_mesh("openreg", (1,))
result = torch.accelerator.current_device_index()
"""
CHECKPOINT = """
from torch.utils.checkpoint import get_device_states, set_device_states
x = torch.ones(1, device="openreg:1")
set_device_states(*get_device_states(x), device_type="openreg")
result = get_device_states(x)[0]
"""
DROPOUT = """
from torch.utils.checkpoint import checkpoint
masks = []
def layer(x):
    y = torch.dropout(x, 0.5, True)
    masks.append(y.detach().cpu())
    return y.sin()
x = torch.ones(64, device="openreg", requires_grad=True)
checkpoint(layer, x, use_reentrant=False).sum().backward()
result = torch.equal(*masks)
"""
FAKE = """
torch.accelerator.set_device_index(1)
fake = torch._subclasses.FakeTensor
result = fake._normalize_fake_device(torch.device("openreg")).index
"""
FORK_RNG = 'with torch.random.fork_rng([0], device_type="openreg"): result = "kept"'
SEED = """
torch.manual_seed(1)
first = torch.rand(9, device="openreg").tolist()
torch.manual_seed(1)
result = first == torch.rand(9, device="openreg").tolist()
"""
NO_SEED = "UserWarning: Set seed for `openreg` device does not take effect"
GRAPHSAFE = """
from torch._prims.rng_prims import graphsafe_run_with_rng_state
state = torch.Generator("openreg").clone_state()
rand = torch.ops.aten.rand.default
result = graphsafe_run_with_rng_state(rand, [2], device="openreg", rng_state=state)
result = list(result.shape)
"""
GENERATOR = """
from torch._functorch._aot_autograd.utils import get_default_generator
result = str(get_default_generator(torch.device("openreg:1")).device)
"""
CHILD = """
import os
torch.ones(1, device="openreg")
reader, writer = os.pipe()
if os.fork() == 0:
    try:
        torch.ones(1, device="openreg")
    except Exception as error:
        os.write(writer, f"{type(error).__name__}: {error}".encode())
    os._exit(0)
os.wait()
result = os.read(reader, 40).decode()
"""
TRACE = """
torch._C._activate_gpu_trace()
seen = []
if hasattr(torch.openreg, "_gpu_trace"):
    torch.openreg._gpu_trace.register_callback_for_device_synchronization(
        lambda: seen.append("synchronized")
    )
torch.accelerator.synchronize()
result = seen
"""
LOAD = """
import io
file = io.BytesIO()
torch.save(torch.ones(2), file)
file.seek(0)
result = str(torch.load(file, map_location="openreg:1").device)
"""


@dataclass(frozen=True)
class Row:
    """One attribute: see the module.

    Attributes:
        name: the attribute.
        need: what torch wants it for.
        test: the test of the feature, ``file::function``.
        code, given, without: see the module; ``without`` is the beginning.
        alone: whether ``code`` needs a separate process.
    """

    name: str
    need: str
    test: str = ""
    code: str = ""
    given: str = ""
    without: str = "AttributeError"
    alone: bool = False


DEVICES = [
    Row(
        "is_available",
        "`torch.accelerator`, `DataLoader`, `torch.load`, `save_on_cpu`, checkpoints",
        "test_device.py::test_without_a_device_every_call_says_so",
        "result = torch.accelerator.is_available()",
        "True",
    ),
    Row(
        "device_count",
        "`torch.accelerator`, `fork_rng`, `torch.load`, device meshes",
        "test_device.py::test_without_a_device_every_call_says_so",
        "result = torch.accelerator.device_count()",
        "2",
    ),
    Row(
        "current_device",
        "`x.openreg()`, fake tensors, FSDP, sharded checkpoints",
        "test_device.py::test_each_spelling_of_a_device_is_understood",
        "torch.accelerator.set_device_index(1); "
        "result = torch.ones(1).openreg().device.index",
        "1",
        "0",
    ),
    Row(
        "set_device",
        "a device mesh makes the device of `LOCAL_RANK` current",
        "test_device.py::test_a_device_that_does_not_exist_changes_nothing",
        MESH,
        "1",
        alone=True,
    ),
    Row(
        "device",
        "the random state of a checkpoint; a context that makes a device current",
        "test_device.py::test_contexts_nest_and_survive_exceptions",
        CHECKPOINT,
        "[1]",
    ),
    Row(
        "get_device_properties",
        "`nn.DataParallel`, which needs more that only CUDA has",
        "test_device.py::test_properties_are_the_drivers",
        "result = torch._utils._get_devices_properties([1])[0].name",
        "'OpenReg simulated device'",
    ),
    Row(
        "_utils",
        "`torch.load` lets it read the index out of a location; may be absent",
        "test_quickstart.py::test_a_file_is_loaded_to_the_device_it_names",
        LOAD,
        "'openreg:1'",
        "'openreg:1'",
    ),
    Row(
        "_utils._get_device_index",
        "the same",
        "test_quickstart.py::test_a_file_is_loaded_to_the_device_it_names",
        LOAD,
        "'openreg:1'",
        "'openreg:1'",
    ),
]
START = [
    Row(
        "_lazy_init",
        "before the first tensor: starts the device; raises an error in a forked child",
        "test_device.py::test_every_way_to_start_the_device_is_noticed_by_a_fork",
        CHILD,
        "'RuntimeError: Cannot re-initialize openr'",
        "'AcceleratorError: openreg: orGetDevice()",
        alone=True,
    ),
    Row(
        "is_initialized",
        "fake tensors ask before `current_device`; device meshes",
        "test_device.py::test_is_initialized_is_one_truth",
        FAKE,
        "1",
    ),
    Row(
        "_initialized",
        "a flag: whether checkpointing keeps the device's random state",
        "test_random.py::test_checkpointing_recomputes_the_same_mask",
        DROPOUT,
        "True",
        "False",
    ),
    Row(
        "_is_in_bad_fork",
        "`torch.manual_seed` leaves the device alone in a forked child",
        "test_random.py::test_seeding_in_a_forked_child_leaves_the_device_alone",
        SEED,
        "True",
        NO_SEED,
    ),
]
RANDOM = [
    Row(
        "manual_seed_all",
        "`torch.manual_seed` and `torch.seed`",
        "test_random.py::test_torch_seeds_all_devices",
        SEED,
        "True",
        NO_SEED,
    ),
    Row(
        "get_rng_state",
        "`fork_rng`, checkpointing, distributed tensors, `cond` and other operators "
        "that run twice",
        "test_random.py::test_fork_rng_restores_every_device",
        FORK_RNG,
        "'kept'",
    ),
    Row(
        "set_rng_state",
        "the same",
        "test_random.py::test_fork_rng_restores_every_device",
        FORK_RNG,
        "'kept'",
    ),
    Row(
        "default_generators",
        "random operators in compiled graphs",
        "test_generator.py::test_every_device_has_one_default_generator",
        GRAPHSAFE,
        "[2]",
        "AssertionError: GraphSafe RNG operations not supported for device 'openreg'",
    ),
    Row(
        "_get_generator",
        "the same, when the graph is called",
        "test_generator.py::test_the_compiler_can_use_the_generators",
        GENERATOR,
        "'openreg:1'",
        "AssertionError: Device type 'openreg' does not implement _get_generator",
    ),
]
STREAMS = [
    Row(
        "Stream",
        "FSDP makes streams for its collectives, with a priority",
        "test_stream.py::test_a_priority_out_of_range_becomes_the_nearest",
        FSDP + "result = handle.Stream(priority=-1).priority",
        "-1",
        NOT_FSDP.format("Stream"),
    ),
    Row(
        "Event",
        "FSDP",
        "test_event.py::test_an_event_that_was_never_recorded_holds_nobody_back",
        FSDP + "result = handle.Event().query()",
        "True",
        NOT_FSDP.format("Event"),
    ),
    Row(
        "current_stream",
        "FSDP, distributed checkpoints",
        "test_stream.py::test_set_stream_makes_the_device_current_and_no_other_stream",
        LOADER,
        "[[1.0, 1.0]]",
    ),
    Row(
        "stream",
        "the same: a context that makes a stream current",
        "test_stream.py::test_a_context_restores_streams_and_device",
        LOADER,
        "[[1.0, 1.0]]",
    ),
    Row(
        "synchronize",
        "FSDP; the old profiler, which does without if it must",
        "test_device.py::test_each_spelling_of_a_device_is_understood",
        FSDP + "result = handle.synchronize()",
        "None",
        NOT_FSDP.format("synchronize"),
    ),
    Row(
        "_sleep",
        "torch's own tests of streams",
        "test_device_module.py::"
        "test_sleep_takes_its_time_on_the_stream_and_not_on_the_host",
        "from torch.testing._internal.common_utils import device_sleep; "
        "result = device_sleep('openreg', 9)",
        "None",
    ),
]
MEMORY = [
    Row(
        "memory_summary",
        "FSDP, when it runs out of memory",
        "test_memory_report.py::test_statistics_agree_with_the_snapshot",
        FSDP + "result = handle.memory_summary()[:17]",
        "'Memory of openreg'",
        NOT_FSDP.format("memory_summary"),
    ),
    *(
        Row(
            name,
            "`MemoryTracker` of `torch.distributed`",
            test,
            TRACKER,
            "True",
            alone=True,  # it stays switched on where it fails
        )
        for name, test in {
            "memory_stats": "test_memory_report.py::"
            "test_statistics_agree_with_the_snapshot",
            "memory_allocated": "test_memory_report.py::"
            "test_statistics_agree_with_the_snapshot",
            "memory_reserved": "test_memory.py::test_empty_cache_gives_memory_back",
            "empty_cache": "test_memory.py::test_empty_cache_gives_memory_back",
        }.items()
    ),
]
OTHERS = [
    Row(
        "get_amp_supported_dtype",
        "`torch.autocast`, and checkpointing, which makes such a context",
        "test_amp.py::test_other_dtypes_switch_it_off",
        "result = torch.autocast('openreg', enabled=False)._enabled",
        "False",
        "AssertionError: Tried to use AMP with the `openreg` backend",
    ),
    Row(
        "_gpu_trace",
        "a module of callbacks, after `torch._C._activate_gpu_trace()`; without it "
        "each call logs an error",
        "test_guard.py::test_the_trace_tells_each_event_in_order",
        TRACE,
        "['synchronized']",
        "[]",
        alone=True,
    ),
]
PRESENT = {
    "Devices": DEVICES,
    "Start and fork": START,
    "Random numbers": RANDOM,
    "Streams and events": STREAMS,
    "Memory": MEMORY,
    "Mixed precision and tracing": OTHERS,
}
COMPILER = "Inductor, which registers a device that has all four by itself"
ABSENT = {
    "Scheduling": "Inductor, on first use: the lookup registers the code generator",
    "PythonWrapperCodegen": COMPILER,
    "CppWrapperCodegen": COMPILER,
    "WrapperFxCodegen": COMPILER,
    "set_rng_ctx": "distributed tensors, only on a device called `hpu`",
    "unset_rng_ctx": "the same",
    "sparse": "sparse storages, a kind that torch no longer makes",
    "get_device_name": "compile packages, only for `cuda` and `xpu`",
}
# Lookups that no reading of Python finds.
BY_CPP = {
    "_lazy_init": "C++: device_lazy_init",
    "_gpu_trace": "C++: PyInterpreter",
}
