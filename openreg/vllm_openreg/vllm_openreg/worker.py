# Starts one device for vLLM's engine; see docs/frontend/serving.md.
"""vLLM's own worker, without the three places that are for CUDA, XPU or a CPU."""

from __future__ import annotations

import gc
from contextlib import AbstractContextManager, nullcontext

import torch
from vllm.platforms import current_platform
from vllm.utils.mem_utils import MemorySnapshot
from vllm.utils.torch_utils import set_random_seed
from vllm.v1.worker.gpu_worker import Worker, init_worker_distributed_environment
from vllm.v1.worker.utils import request_memory
from vllm.v1.worker.worker_base import CompilationTimes


class OpenRegWorker(Worker):
    """Runs the model of one rank on one device."""

    # LITERALINCLUDE START: VLLM_INIT_DEVICE
    def init_device(self) -> None:
        """Do what the base class does for the device type "cuda" alone."""
        self.device = torch.device(current_platform.device_type, self.local_rank)
        torch.accelerator.set_device_index(self.device)
        current_platform.check_if_supports_dtype(self.model_config.dtype)
        init_worker_distributed_environment(
            self.vllm_config,
            self.rank,
            self.distributed_init_method,
            self.local_rank,
            current_platform.dist_backend,
        )
        set_random_seed(self.model_config.seed)
        gc.collect()
        torch.accelerator.empty_cache()
        # Collectives have their buffers by now: what is free is for weights and cache.
        self.init_snapshot = MemorySnapshot(device=self.device)
        self.requested_memory = request_memory(self.init_snapshot, self.cache_config)
        self._init_workspace_and_model_runner()

    # LITERALINCLUDE END: VLLM_INIT_DEVICE

    # LITERALINCLUDE START: VLLM_WORKER_REST
    def _maybe_get_memory_pool_context(self, tag: str) -> AbstractContextManager[None]:
        """Allocate as usual: the pools of the base class are for its sleep mode."""
        return nullcontext()

    def compile_or_warm_up_model(self) -> CompilationTimes:
        """Run the model and the sampler once; the base class tunes CUDA kernels."""
        scheduler = self.scheduler_config
        tokens = min(scheduler.max_num_seqs, scheduler.max_num_batched_tokens)
        hidden, last = self.model_runner._dummy_run(num_tokens=tokens)
        if self.model_runner.is_pooling_model:
            self.model_runner._dummy_pooler_run(hidden)
        else:
            self.model_runner._dummy_sampler_run(hidden_states=last)
        set_random_seed(self.model_config.seed)
        return CompilationTimes(language_model=0.0, encoder=0.0)

    # LITERALINCLUDE END: VLLM_WORKER_REST
