# The Python that Inductor generates around the kernels; see
# docs/modules/compile-wrapper.md.
"""Generates the CPU wrapper, except for three lines."""

from typing import Any

import torch
from torch._inductor.codegen.wrapper import (
    EnterCudaStreamContextLine,
    PythonWrapperCodegen,
    SubgraphPythonWrapperCodegen,
)
from torch._inductor.stream_utils import get_stream_name
from torch._inductor.virtualized import V

from .triton import check_registered


class _OpenRegLines(PythonWrapperCodegen):
    """The lines that differ, for whole graphs and for the bodies of control flow."""

    # LITERALINCLUDE START: INDUCTOR_CALL
    def _generate_kernel_call_helper(
        self,
        kernel_name: str,
        call_args: list[str],
        *,
        device: torch.device | None = None,
        triton: bool = True,
        **kwargs: Any,
    ) -> None:
        """Write the call of a kernel on its device."""
        if device is None or device.type != "openreg":
            super()._generate_kernel_call_helper(
                kernel_name, call_args, device=device, triton=triton, **kwargs
            )
        elif triton:
            self.codegen_device_guard_enter(device.index or 0)
            super()._generate_kernel_call_helper(
                kernel_name, call_args, device=device, triton=True, **kwargs
            )
            self.codegen_device_guard_exit()
        else:
            where = str(device.index or 0)
            self.writeline(self.wrap_kernel_call(kernel_name, [*call_args, where]))

    # LITERALINCLUDE END: INDUCTOR_CALL
    # LITERALINCLUDE START: INDUCTOR_ALLOCATION
    def make_allocation(
        self, name: str, device: torch.device, *args: Any, **kwargs: Any
    ) -> str:
        """Write the allocation of a buffer: on its device, not on the current one."""
        line = super().make_allocation(name, device, *args, **kwargs)
        with_index = f"device='openreg:{device.index or 0}'"
        return line.replace("device='openreg'", with_index)

    # LITERALINCLUDE END: INDUCTOR_ALLOCATION
    # LITERALINCLUDE START: INDUCTOR_STREAM
    def codegen_cuda_stream_enter(self, stream_idx: int) -> EnterCudaStreamContextLine:
        """Write ``with stream1:``, after the line that says what ``stream1`` is."""
        named = self.__dict__.setdefault("_named_streams", set())
        if stream_idx not in named:
            named.add(stream_idx)
            self.writeline(f"{get_stream_name(stream_idx)} = {_stream(stream_idx)}")
        return super().codegen_cuda_stream_enter(stream_idx)

    # LITERALINCLUDE END: INDUCTOR_STREAM


def _stream(stream_idx: int) -> str:
    """The expression for a stream of the user's; 0 is the current one at the start."""
    if stream_idx == 0:
        return "torch.accelerator.current_stream()"
    index = V.graph.scheduler.stream_idx_to_user_obj_idx[stream_idx]
    module = "torch._dynamo.graph_bytecode_inputs"
    return f"{module}.get_external_object_by_index({index})"


class OpenRegWrapper(_OpenRegLines):
    """The wrapper of a whole graph."""

    @staticmethod
    def create(
        is_subgraph: bool,
        subgraph_name: Any,
        parent_wrapper: Any,
        partition_signatures: Any = None,
    ) -> PythonWrapperCodegen:
        """Return a new wrapper; Inductor calls this."""
        if is_subgraph:
            return OpenRegSubgraphWrapper(
                subgraph_name, parent_wrapper, partition_signatures
            )
        check_registered()
        return OpenRegWrapper()

    def write_header(self) -> None:
        """Write the imports, including the compiler of the kernels."""
        super().write_header()
        self.header.splice(
            """
            from torch_openreg._inductor.compile import OpenRegAsyncCompile
            async_compile = OpenRegAsyncCompile()
            """,
            strip=True,
        )


class OpenRegSubgraphWrapper(_OpenRegLines, SubgraphPythonWrapperCodegen):
    """The wrapper of a body of control flow, such as a branch of ``cond``."""
