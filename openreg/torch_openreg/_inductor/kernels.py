# Fused kernels: Inductor's C++ loops, launched on the current stream; see
# docs/modules/compile-inductor.md.
"""The code generator of the CPU, with a launch around each kernel."""

import torch
from torch._inductor.codegen.cpp import CppScheduling, KernelGroup
from torch._inductor.utils import Placeholder
from torch._inductor.virtualized import V

from . import config

# LITERALINCLUDE START: INDUCTOR_LAUNCHER
LAUNCHER = """
// torch_openreg._inductor {version}
#include <csrc/kernels/cpu/HostKernel.h>

template <class T>
T* on_device(T* pointer) {{
  return static_cast<T*>(orKernelAddress(pointer));
}}

extern "C" __attribute__((visibility("default"))) void {kernel}({parameters},
                                                                int64_t device) {{
  openreg::cpu::launch_on("{name}", c10::Device(c10::kPrivateUse1, device),
                  [{captures}] {{ {kernel}_body({arguments}); }});
}}
"""
# LITERALINCLUDE END: INDUCTOR_LAUNCHER


def is_launcher(source: str) -> bool:
    """Return whether generated C++ is for the device, not for the CPU."""
    return "// torch_openreg._inductor" in source


class OpenRegKernelGroup(KernelGroup):
    """The loops of one kernel."""

    device: torch.device

    # LITERALINCLUDE START: INDUCTOR_KERNEL_GROUP
    def codegen_group(self, name: str | None = None) -> str:
        """Return the loops as a function, and a function that launches it."""
        kernel = str(Placeholder.KERNEL_NAME)
        body = super().codegen_group(f"{kernel}_body")
        if not body:
            return body
        parameters, buffers, types = self.args.cpp_argdefs()
        captures, arguments = ["="], []
        for parameter, buffer, type_ in zip(parameters, buffers, types, strict=True):
            name = parameter.split()[-1].lstrip("*")
            if not type_.endswith("*"):
                arguments.append(name)  # a size
            elif V.graph.get_buffer(buffer).get_device_or_error().type == "cpu":
                captures.append(f"{name}_value = *{name}")  # (1)
                arguments.append(f"&{name}_value")
            else:
                arguments.append(f"on_device({name})")  # (2)
        return body + LAUNCHER.format(
            version=config.codegen_version,
            kernel=kernel,
            name=Placeholder.DESCRIPTIVE_NAME,  # (3)
            parameters=", ".join(parameters),
            captures=", ".join(captures),
            arguments=", ".join(arguments),
        )

    # LITERALINCLUDE END: INDUCTOR_KERNEL_GROUP

    def call_kernel(self, wrapper, kernel_name):  # type: ignore[no-untyped-def]
        """Let the wrapper call the launcher."""
        _, buffers, types = self.args.cpp_argdefs()
        wrapper.generate_kernel_call(
            kernel_name, buffers, triton=False, arg_types=types, device=self.device
        )


# LITERALINCLUDE START: INDUCTOR_SCHEDULING
class OpenRegScheduling(CppScheduling):
    """Decides what is fused, as for the CPU, and generates the kernels."""

    kernel_group: OpenRegKernelGroup

    def reset_kernel_group(self) -> None:
        """Begin a new kernel."""
        self.kernel_group = OpenRegKernelGroup()

    def codegen_node(self, node):  # type: ignore[no-untyped-def]
        """Add the loops of a node to the kernel."""
        self.kernel_group.device = node.get_device()
        with V.graph.set_current_device(torch.device("cpu")):
            super().codegen_node(node)

    def flush(self) -> None:
        """End the kernel and call it."""
        with V.graph.set_current_device(torch.device("cpu")):
            super().flush()


# LITERALINCLUDE END: INDUCTOR_SCHEDULING
