# What a backend can have, one entry each; see docs/start/features.md.
"""Data for feature_pages.py; feature_files.py finds the files of each entry."""

from __future__ import annotations

from dataclasses import dataclass

C = "csrc/"
R = "csrc/runtime/"
A = "csrc/aten/"
PACKAGE = "torch_openreg/"
MODULE = "torch_openreg/openreg/"


@dataclass(frozen=True)
class Feature:
    """A feature; `files` are patterns below openreg/ from which the others follow.

    `small` are patterns below openreg/starter, of all its files.
    """

    name: str
    needed: bool
    pieces: str  # what you implement or register
    files: tuple[str, ...]
    test: str  # in openreg/tests
    page: str  # the chapter
    stage: int
    small: tuple[str, ...] = ()


def required(
    name: str,
    pieces: str,
    files: tuple[str, ...],
    test: str,
    page: str,
    stage: int,
    *small: str,
) -> Feature:
    return Feature(name, True, pieces, files, test, page, stage, small)


def optional(
    name: str, pieces: str, files: tuple[str, ...], test: str, page: str, stage: int
) -> Feature:
    return Feature(name, False, pieces, files, test, page, stage)


FEATURES = [
    required(
        "Autoload",
        "entry point, `rename_privateuse1_backend`",
        (f"{PACKAGE}__init__.py", f"{PACKAGE}_load.py"),
        "frontend/test_autoload.py",
        "frontend/autoload",
        0,
        "setup.py",
        "pyproject.toml",
        "torch_starter/__init__.py",
    ),
    required(
        "Device module",
        "`_lazy_init`, `_is_in_bad_fork`, `manual_seed_all`",
        (f"{MODULE}__init__.py",),
        "frontend/test_device_module.py",
        "frontend/device-module",
        0,
        "torch_starter/starter/__init__.py",
    ),
    required(
        "Devices",
        "the current device, a late start, forks",
        (f"{R}device/OpenRegFunctions.cpp", f"{R}device/OpenRegInit.cpp"),
        "runtime/test_device.py",
        "runtime/device",
        1,
        "CMakeLists.txt",
        "csrc/Export.h",
        "csrc/runtime/StarterFunctions.*",
        "torch_starter/csrc/*",
    ),
    required(
        "Errors",
        "`AcceleratorError`, `OutOfMemoryError`",
        (f"{R}errors/OpenRegException.cpp",),
        "runtime/test_errors.py",
        "runtime/errors",
        1,
        "csrc/runtime/StarterException.h",
    ),
    required(
        "Guard",
        "`DeviceGuardImplInterface`",
        (f"{R}device/OpenRegGuard.cpp",),
        "runtime/test_guard.py",
        "runtime/guard",
        1,
        "csrc/runtime/StarterGuard.cpp",
    ),
    required(
        "Hooks",
        "`PrivateUse1HooksInterface`",
        (f"{R}device/OpenRegHooks.cpp",),
        "runtime/test_hooks.py",
        "runtime/hooks",
        1,
        "csrc/runtime/StarterHooks.cpp",
    ),
    required(
        "End of the process",
        "`AutogradExit`",
        (f"{C}simulator/AutogradExit.cpp", f"{MODULE}_engine.py"),
        "operators/test_exit.py",
        "ship/known-crashes-exit",
        1,
        "csrc/runtime/AutogradExit.*",
    ),
    required(
        "Allocator",
        "`c10::DeviceAllocator`",
        (),
        "start/test_first_backend.py",
        "start/first-backend",
        2,
        "csrc/runtime/StarterDeviceAllocator.cpp",
    ),
    required(
        "Create and view tensors",
        "`empty`, `empty_strided`, `as_strided`, `resize_`",
        (f"{A}RegisterMinimal.cpp", f"{A}ops/Factory.cpp", f"{A}ops/View.cpp"),
        "operators/test_minimal.py",
        "operators/minimal",
        2,
        "csrc/aten/*.*",
        "csrc/aten/ops/Factory.cpp",
    ),
    required(
        "Copies",
        "`_copy_from`, and the one that resizes",
        (f"{A}ops/Copy.cpp",),
        "operators/test_minimal.py",
        "operators/minimal-copies",
        2,
        "csrc/aten/ops/Copy.cpp",
    ),
    required(
        "Fallback",
        "a boxed kernel for the dispatch key",
        (
            f"{A}RegisterFallback.cpp",
            f"{A}ops/Fallback.cpp",
            f"{MODULE}fallback.py",
        ),
        "operators/test_fallback.py",
        "operators/fallback",
        3,
        "csrc/aten/ops/Fallback.cpp",
        "examples/*",
    ),
    optional(
        "Streams",
        "`getNewStream`, `queryStream` of the guard",
        (f"{R}stream/OpenRegStream.cpp", f"{MODULE}streams.py"),
        "runtime/test_stream.py",
        "runtime/stream",
        4,
    ),
    optional(
        "Events",
        "`record`, `block` of the guard, on any stream",
        (f"{R}device/OpenRegGuard.cpp", f"{MODULE}streams.py"),
        "runtime/test_event.py",
        "runtime/event",
        4,
    ),
    optional(
        "Caching allocator",
        "`c10::DeviceAllocator`, segments and blocks",
        (f"{R}memory/OpenRegDeviceAllocator.cpp",),
        "runtime/test_memory.py",
        "runtime/memory",
        4,
    ),
    optional(
        "Settings and statistics of memory",
        "`AcceleratorAllocatorConfig`",
        (
            f"{R}memory/OpenRegAllocatorConfig.cpp",
            f"{R}memory/DeviceCachingAllocatorReport.cpp",
            f"{PACKAGE}csrc/MemorySnapshot.h",
            f"{MODULE}memory.py",
        ),
        "runtime/test_memory_report.py",
        "runtime/memory-settings",
        4,
    ),
    optional(
        "Pinned memory",
        "`at::HostAllocator`",
        (f"{R}memory/OpenRegHostAllocator.cpp", f"{MODULE}host_memory.py"),
        "runtime/test_host_memory.py",
        "runtime/host-memory",
        4,
    ),
    optional(
        "Storages of your own",
        "`SetStorageImplCreate`",
        (f"{R}memory/OpenRegStorage.cpp",),
        "runtime/test_storage.py",
        "runtime/storage",
        4,
    ),
    optional(
        "Tags in files",
        "`TensorBackendMetaRegistry`",
        (
            f"{R}memory/OpenRegSerialization.cpp",
            f"{MODULE}storage.py",
            f"{MODULE}legacy_storages.py",
        ),
        "frontend/test_serialization.py",
        "runtime/storage-tags",
        4,
    ),
    optional(
        "Trace of a tool",
        "`PyInterpreter::trace_gpu_*`",
        (f"{R}stream/OpenRegTrace.h", f"{MODULE}_gpu_trace.py"),
        "runtime/test_guard.py",
        "runtime/trace",
        4,
    ),
    optional(
        "Generator",
        "`c10::GeneratorImpl`",
        (f"{R}random/OpenRegGenerator.cpp", f"{MODULE}random.py"),
        "runtime/test_generator.py",
        "runtime/generator",
        4,
    ),
    optional(
        "One native kernel",
        "the function of an operator, a kernel, a launch",
        (f"{A}ops/Add.cpp", f"{A}launch/Launch.cpp"),
        "operators/test_registration.py",
        "start/first-kernel",
        5,
    ),
    optional(
        "Structured operators",
        "`TensorIterator`, meta functions",
        (f"{A}RegisterStructured*.cpp", f"{A}structured/*.cpp"),
        "operators/test_structured.py",
        "operators/structured",
        5,
    ),
    optional(
        "Dispatch stubs",
        "`REGISTER_PRIVATEUSE1_DISPATCH`",
        ("csrc/kernels/DispatchStubs.cpp",),
        "operators/test_stub.py",
        "operators/stub",
        5,
    ),
    optional(
        "Convolutions",
        "`convolution_overrideable`",
        (f"{A}host/Convolution.cpp",),
        "operators/test_composite.py",
        "operators/composite",
        6,
    ),
    optional(
        "LSTM, GRU and Transformer layers",
        "`_thnn_fused_lstm_cell`, `_transformer_encoder_layer_fwd`",
        (f"{A}host/Rnn.cpp", f"{A}meta/Transformer.cpp"),
        "operators/test_composite_rnn.py",
        "operators/fused-layers",
        6,
    ),
    optional(
        "Attention",
        "`_scaled_dot_product_fused_attention_overrideable`",
        (f"{A}host/Attention.cpp",),
        "operators/test_composite_attention.py",
        "operators/attention",
        6,
    ),
    optional(
        "A backward of your own",
        "`AutogradPrivateUse1`",
        (f"{A}RegisterAutograd.cpp", f"{A}ops/CosineSimilarity.cpp"),
        "operators/test_autograd.py",
        "operators/autograd-function",
        6,
    ),
    optional(
        "Sparse, quantized and nested tensors",
        "a dispatch key for each layout",
        (f"{A}RegisterLayouts.cpp", f"{A}ops/Sparse*.cpp", f"{A}ops/Layouts.cpp"),
        "operators/test_layouts.py",
        "operators/layouts",
        6,
    ),
    optional(
        "Products with weights of 8 and 4 bits",
        "`_int_mm`, `_weight_int8pack_mm`, `_weight_int4pack_mm`, `_scaled_mm`",
        (f"{A}meta/QuantizedProducts.cpp",),
        "operators/test_quantized_products.py",
        "modules/quantization",
        6,
    ),
    optional(
        "Fake quantization and quantized tensors",
        "`fake_quantize_per_tensor_affine_cachemask` and others, `quantize_per_tensor`",
        (
            f"{A}RegisterQuantized.cpp",
            f"{A}ops/FakeQuantize.cpp",
            f"{A}host/QuantizedTensors.cpp",
        ),
        "operators/test_fake_quantize.py",
        "modules/fake-quantize",
        6,
    ),
    optional(
        "Random operators",
        "Philox kernels",
        (f"{A}ops/Random*.cpp",),
        "frontend/test_random_distributions.py",
        "runtime/random-kernels",
        7,
    ),
    optional(
        "Mixed precision",
        "`AutocastPrivateUse1`",
        (f"{C}amp/RegisterAutocast.cpp", f"{MODULE}amp.py"),
        "modules/test_amp.py",
        "modules/amp",
        7,
    ),
    optional(
        "Profiler",
        "`libkineto::IActivityProfiler`",
        (f"{C}profiler/*.cpp",),
        "modules/test_profiler.py",
        "modules/profiler",
        8,
    ),
    optional(
        "Graphs",
        "`at::GraphImplInterface`",
        (f"{R}graph/OpenRegGraph.cpp",),
        "modules/test_graphs.py",
        "modules/graphs",
        8,
    ),
    optional(
        "A compiler backend",
        "`torch_dynamo_backends`",
        (f"{PACKAGE}_dynamo.py",),
        "modules/test_compile_dynamo.py",
        "modules/compile-backend",
        9,
    ),
    optional(
        "Generated kernels",
        "`register_backend_for_device`",
        (f"{PACKAGE}_inductor/*.py",),
        "modules/test_compile_inductor.py",
        "modules/compile-inductor",
        9,
    ),
    optional(
        "Memory shared by processes",
        "reductions of `torch.multiprocessing`",
        (f"{R}ipc/*.cpp", f"{MODULE}reductions.py"),
        "frontend/test_multiprocessing.py",
        "frontend/ipc",
        9,
    ),
    optional(
        "Collectives",
        "`c10d::Backend`",
        (f"{C}distributed/[CDGPW]*.cpp", f"{MODULE}_distributed.py"),
        "modules/test_distributed.py",
        "modules/distributed",
        9,
    ),
    optional(
        "Symmetric memory",
        "`c10d::symmetric_memory::SymmetricMemoryAllocator`",
        (f"{C}distributed/[OS]*.cpp",),
        "modules/test_symmetric_memory.py",
        "modules/symmetric-memory",
        9,
    ),
    optional(
        "Batch normalization across processes",
        "`batch_norm_stats` and five more operators",
        (f"{A}meta/SyncBatchNorm.cpp",),
        "modules/test_sync_batch_norm.py",
        "modules/sync-batch-norm",
        9,
    ),
    optional(
        "Sharded attention",
        "strategies of DTensor",
        (f"{MODULE}_sharding.py",),
        "modules/test_sharding_attention.py",
        "modules/sharding-attention",
        9,
    ),
    optional(
        "Context parallelism",
        "`efficient_attention` and its backward",
        (f"{A}host/Attention.cpp",),
        "modules/test_context_parallel.py",
        "modules/context-parallel",
        9,
    ),
]


@dataclass(frozen=True)
class Later:
    """What only later releases of torch call, for a feature that works without it."""

    feature: str
    point: str  # as docs/ship/upgrading-changes.md names it
    gap: str  # closed by the first release that has it, see torch_release.py
    before: str  # what older releases do


LATER = [
    Later(
        "Generated kernels",
        "`torch.<name>._inductor_backend_init`",
        "inductor has no hook of its own",
        "Inductor finds `Scheduling` in the device module",
    ),
    Later(
        "Collectives",
        "entry point `torch.distributed.backends`",
        "communication backends have no entry point",
        "the import of the backend registers the name",
    ),
]
