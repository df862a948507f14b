# What vLLM reads about the device and sets for it; see docs/frontend/serving.md.
"""vLLM makes one object of this class, and calls it wherever devices differ."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import torch
from vllm.platforms.interface import Platform, PlatformEnum

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.config.kernel import IrOpPriorityConfig

SLOT_MAPPING = "vllm.v1.worker.block_table.ComputeSlotMappingKernel.kernel"


# LITERALINCLUDE START: VLLM_DEVICE
class OpenRegPlatform(Platform):
    """The openreg device, in the terms of vLLM 0.32."""

    _enum = PlatformEnum.OOT
    device_name = device_type = "openreg"
    dispatch_key = "PrivateUse1"
    dist_backend = "occl"
    simple_compile_backend = "eager"  # for small functions, such as the sampler's

    @property
    def supported_dtypes(self) -> list[torch.dtype]:
        """The dtypes of models; vLLM takes the first where it has to choose."""
        return [torch.bfloat16, torch.float16, torch.float32]

    # LITERALINCLUDE END: VLLM_DEVICE

    # -- the device: each method of the base class raises NotImplementedError --

    @classmethod
    def get_device_name(cls, device_id: int = 0) -> str:
        return str(torch.get_device_module("openreg").get_device_name(device_id))

    @classmethod
    def get_device_total_memory(cls, device_id: int = 0) -> int:
        return torch.accelerator.get_memory_info(device_id)[1]

    @classmethod
    def get_current_memory_usage(cls, device: torch.device | None = None) -> float:
        return torch.accelerator.max_memory_allocated(device)

    @classmethod
    def set_device(cls, device: torch.device) -> None:
        torch.accelerator.set_device_index(device)

    @classmethod
    def manual_seed_all(cls, seed: int) -> None:
        torch.get_device_module("openreg").manual_seed_all(seed)

    @classmethod
    def check_if_supports_dtype(cls, dtype: torch.dtype) -> None:
        if dtype not in (supported := cls().supported_dtypes):
            raise ValueError(
                f"vllm_openreg has no kernels for a model in {dtype}. "
                f"Pass dtype=, one of {supported}"
            )

    @classmethod
    def num_compute_units(cls, device_id: int = 0) -> int:
        return 1

    @classmethod
    def support_hybrid_kv_cache(cls) -> bool:
        return True  # the attention reads any block table, also those with a window

    # -- what vLLM builds for the device --

    # LITERALINCLUDE START: VLLM_CONFIG
    @classmethod
    def check_and_update_config(cls, vllm_config: VllmConfig) -> None:
        """Change what vLLM would choose for CUDA; called before anything starts."""
        from vllm.config import CompilationMode, CUDAGraphMode

        if vllm_config.speculative_config is not None:
            raise NotImplementedError(
                "vllm_openreg: speculative decoding creates torch.cuda.Stream in vLLM "
                "0.32. Remove speculative_config"
            )
        parallel = vllm_config.parallel_config
        if parallel.worker_cls == "auto":
            parallel.worker_cls = "vllm_openreg.worker.OpenRegWorker"
        parallel.disable_custom_all_reduce = True
        # The copy of its results to the host also has a torch.cuda.Stream.
        vllm_config.scheduler_config.async_scheduling = False
        # The device does not survive a fork, and vLLM checks for CUDA and XPU only.
        os.environ.setdefault("VLLM_WORKER_MULTIPROC_METHOD", "spawn")
        compilation = vllm_config.compilation_config
        if compilation.mode == CompilationMode.VLLM_COMPILE:  # vLLM's default
            compilation.mode = CompilationMode.NONE
        compilation.cudagraph_mode = CUDAGraphMode.NONE
        compilation.cudagraph_capture_sizes = []
        cls._limit_fusions(compilation)

    # LITERALINCLUDE END: VLLM_CONFIG

    @staticmethod
    def _limit_fusions(compilation: Any) -> None:
        """Switch off what Inductor and vLLM fuse for CUDA alone."""
        compilation.inductor_compile_config.update(
            combo_kernels=False, benchmark_combo_kernel=False
        )
        compilation.pass_config.fuse_norm_quant = False
        compilation.pass_config.fuse_act_quant = False

    # LITERALINCLUDE START: VLLM_HOOKS
    @classmethod
    def get_attn_backend_cls(
        cls, selected_backend: Any, attn_selector_config: Any, num_heads: Any = None
    ) -> str:
        """Choose the attention of a layer."""
        if attn_selector_config.use_mla or attn_selector_config.use_sparse:
            raise NotImplementedError(
                "vllm_openreg has no latent (MLA) and no sparse attention. Choose a "
                "model with plain or grouped heads"
            )
        return "vllm_openreg.attention.OpenRegAttentionBackend"

    @classmethod
    def opaque_attention_op(cls) -> bool:
        """Keep Dynamo out: it would make constants of the lengths of a batch."""
        return True

    @classmethod
    def register_triton_kernel_overrides(cls) -> None:
        """Replace the Triton kernel that vLLM launches on every device."""
        from vllm.triton_utils.dispatcher import register_kernels

        from vllm_openreg.kernels import slot_mapping

        register_kernels({SLOT_MAPPING: slot_mapping})

    # LITERALINCLUDE END: VLLM_HOOKS

    @classmethod
    def import_kernels(cls) -> None:
        """Do not load vllm._C, whose kernels are for another device."""

    # LITERALINCLUDE START: VLLM_PRIORITY
    @classmethod
    def import_ir_kernels(cls) -> None:
        """Import the kernels of the device, which registers them."""
        import vllm_openreg.layers  # noqa: F401

    @classmethod
    def get_default_ir_op_priority(cls, vllm_config: VllmConfig) -> IrOpPriorityConfig:
        """Prefer the kernel of the device for one operator of vLLM's IR."""
        from vllm.config.kernel import IrOpPriorityConfig

        return IrOpPriorityConfig.with_default(
            ["native"], rms_norm=["openreg", "native"]
        )

    # LITERALINCLUDE END: VLLM_PRIORITY
