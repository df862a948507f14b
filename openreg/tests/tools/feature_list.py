# What a backend can have, one entry each; see docs/start/features.md.
"""Data for feature_pages.py."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Feature:
    name: str
    needed: bool  # common programs fail without it
    pieces: str  # what you implement or register
    test: str  # in openreg/tests
    page: str  # the chapter
    stage: int  # of the ladder


FEATURES = [
    Feature(
        "Autoload",
        True,
        "entry point, `rename_privateuse1_backend`",
        "frontend/test_autoload.py",
        "frontend/autoload",
        0,
    ),
    Feature(
        "Device module",
        True,
        "`_lazy_init`, `_is_in_bad_fork`, `manual_seed_all`",
        "frontend/test_device_module.py",
        "frontend/device-module",
        0,
    ),
    Feature(
        "Devices",
        True,
        "the current device, initialization at first use, forks",
        "runtime/test_device.py",
        "runtime/device",
        1,
    ),
    Feature(
        "Errors",
        True,
        "`AcceleratorError`, `OutOfMemoryError`",
        "runtime/test_errors.py",
        "runtime/errors",
        1,
    ),
    Feature(
        "Guard",
        True,
        "`DeviceGuardImplInterface`",
        "runtime/test_guard.py",
        "runtime/guard",
        1,
    ),
    Feature(
        "Hooks",
        True,
        "`PrivateUse1HooksInterface`",
        "runtime/test_hooks.py",
        "runtime/hooks",
        1,
    ),
    Feature(
        "Process exit",
        True,
        "`AutogradExit`",
        "operators/test_exit.py",
        "ship/known-crashes",
        1,
    ),
    Feature(
        "Allocator",
        True,
        "`c10::DeviceAllocator`",
        "start/test_first_backend.py",
        "start/first-backend",
        2,
    ),
    Feature(
        "Create and view tensors",
        True,
        "`empty`, `empty_strided`, `as_strided`, `resize_`",
        "operators/test_minimal.py",
        "operators/minimal",
        2,
    ),
    Feature(
        "Copies",
        True,
        "`_copy_from`, `_copy_from_and_resize`",
        "operators/test_minimal.py",
        "operators/minimal-copies",
        2,
    ),
    Feature(
        "Fallback",
        True,
        "a boxed kernel for the dispatch key",
        "operators/test_fallback.py",
        "operators/fallback",
        3,
    ),
    Feature(
        "Streams",
        False,
        "`getNewStream`, `queryStream` of the guard",
        "runtime/test_stream.py",
        "runtime/stream",
        4,
    ),
    Feature(
        "Events",
        False,
        "`record`, `block` of the guard, on any stream",
        "runtime/test_event.py",
        "runtime/event",
        4,
    ),
    Feature(
        "Caching allocator",
        False,
        "`c10::DeviceAllocator`, segments and blocks",
        "runtime/test_memory.py",
        "runtime/memory",
        4,
    ),
    Feature(
        "Memory settings and statistics",
        False,
        "`AcceleratorAllocatorConfig`",
        "runtime/test_memory_report.py",
        "runtime/memory-settings",
        4,
    ),
    Feature(
        "Pinned memory",
        False,
        "`at::HostAllocator`",
        "runtime/test_host_memory.py",
        "runtime/host-memory",
        4,
    ),
    Feature(
        "Custom storages",
        False,
        "`SetStorageImplCreate`",
        "runtime/test_storage.py",
        "runtime/storage",
        4,
    ),
    Feature(
        "Tags in files",
        False,
        "`TensorBackendMetaRegistry`",
        "frontend/test_serialization.py",
        "runtime/storage-tags",
        4,
    ),
    Feature(
        "Tracing hooks for debugging tools",
        False,
        "`PyInterpreter::trace_gpu_*`",
        "runtime/test_guard.py",
        "ship/debugging",
        4,
    ),
    Feature(
        "Generator",
        False,
        "`c10::GeneratorImpl`",
        "runtime/test_generator.py",
        "runtime/generator",
        4,
    ),
    Feature(
        "One native kernel",
        False,
        "a host function, a kernel, and its launch",
        "operators/test_registration.py",
        "start/first-kernel",
        5,
    ),
    Feature(
        "Structured operators",
        False,
        "`TensorIterator`, meta functions",
        "operators/test_structured.py",
        "operators/structured",
        5,
    ),
    Feature(
        "Dispatch stubs",
        False,
        "`REGISTER_PRIVATEUSE1_DISPATCH`",
        "operators/test_stub.py",
        "operators/stub",
        5,
    ),
    Feature(
        "Convolutions",
        False,
        "`convolution_overrideable`",
        "operators/test_composite.py",
        "operators/composite",
        6,
    ),
    Feature(
        "LSTM, GRU and Transformer layers",
        False,
        "`_thnn_fused_lstm_cell`, `_transformer_encoder_layer_fwd`",
        "operators/test_composite_rnn.py",
        "operators/fused-layers",
        6,
    ),
    Feature(
        "Attention",
        False,
        "`_scaled_dot_product_fused_attention_overrideable`",
        "operators/test_composite_attention.py",
        "operators/attention",
        6,
    ),
    Feature(
        "Custom backward",
        False,
        "`AutogradPrivateUse1`",
        "operators/test_autograd.py",
        "operators/autograd-function",
        6,
    ),
    Feature(
        "Sparse, quantized and nested tensors",
        False,
        "a dispatch key for each layout",
        "operators/test_layouts.py",
        "operators/layouts",
        6,
    ),
    Feature(
        "Products with 8-bit and 4-bit weights",
        False,
        "`_int_mm`, `_weight_int8pack_mm`, `_weight_int4pack_mm`, `_scaled_mm`",
        "operators/test_quantized_products.py",
        "modules/quantization",
        6,
    ),
    Feature(
        "Fake quantization and quantized tensors",
        False,
        "`fake_quantize_per_tensor_affine_cachemask` and others, `quantize_per_tensor`",
        "operators/test_fake_quantize.py",
        "modules/quantization",
        6,
    ),
    Feature(
        "Random operators",
        False,
        "Philox kernels",
        "frontend/test_random_distributions.py",
        "runtime/random-kernels",
        7,
    ),
    Feature(
        "Mixed precision",
        False,
        "`AutocastPrivateUse1`",
        "modules/test_amp.py",
        "modules/amp",
        7,
    ),
    Feature(
        "Profiler",
        False,
        "`libkineto::IActivityProfiler`",
        "modules/test_profiler.py",
        "modules/profiler",
        8,
    ),
    Feature(
        "Graphs",
        False,
        "`at::GraphImplInterface`",
        "modules/test_graphs.py",
        "modules/graphs",
        8,
    ),
    Feature(
        "A compiler backend",
        False,
        "`torch_dynamo_backends`",
        "modules/test_compile_dynamo.py",
        "modules/compile-dynamo",
        9,
    ),
    Feature(
        "Generated kernels",
        False,
        "`register_backend_for_device`",
        "modules/test_compile_inductor.py",
        "modules/compile-inductor",
        9,
    ),
    Feature(
        "Memory shared by processes",
        False,
        "reductions for `torch.multiprocessing`",
        "frontend/test_multiprocessing.py",
        "frontend/ipc",
        9,
    ),
    Feature(
        "Collectives",
        False,
        "`c10d::Backend`",
        "modules/test_distributed.py",
        "modules/distributed",
        9,
    ),
    Feature(
        "Records of collectives",
        False,
        "`Work::getDuration`, completion and abort hooks",
        "modules/test_distributed_debugging.py",
        "modules/distributed-debugging",
        9,
    ),
    Feature(
        "Symmetric memory",
        False,
        "`c10d::symmetric_memory::SymmetricMemoryAllocator`",
        "modules/test_symmetric_memory.py",
        "modules/symmetric-memory",
        9,
    ),
    Feature(
        "Batch normalization across processes",
        False,
        "`batch_norm_stats` and five more operators",
        "modules/test_sync_batch_norm.py",
        "modules/sync-batch-norm",
        9,
    ),
    Feature(
        "Sharded attention",
        False,
        "DTensor strategies",
        "modules/test_sharding_attention.py",
        "modules/sharding-attention",
        9,
    ),
    Feature(
        "Context parallelism",
        False,
        "`efficient_attention` and its backward",
        "modules/test_context_parallel.py",
        "modules/sharding-attention",
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
        "Inductor found `Scheduling` in the device module",
    ),
    Later(
        "Collectives",
        "entry point `torch.distributed.backends`",
        "communication backends have no entry point",
        "the import of the backend registered the name",
    ),
]
