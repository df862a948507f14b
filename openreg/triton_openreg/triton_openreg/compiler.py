# The stages from Triton's IR to machine code; see docs/modules/triton-compiler.md.
"""What Triton calls to compile a kernel for the device."""

import hashlib
import re
from dataclasses import dataclass, fields
from pathlib import Path
from types import ModuleType
from typing import Any

from triton._C.libtriton import ir, passes
from triton.backends.compiler import BaseBackend, GPUTarget, Language

from . import toolchain, versions
from .lower import lower
from .ttir import Unsupported

HERE = Path(__file__).parent


@dataclass(frozen=True)
class OpenRegOptions:
    """What a launch may set, and what Triton's front end reads.

    Launches and autotuning pass ``num_warps`` and the like: the device runs a block in
    one thread, so it accepts and ignores them.
    """

    num_warps: int = 1
    num_ctas: int = 1
    num_stages: int = 1
    warp_size: int = 1
    enable_fp_fusion: bool = False  # a * b + c rounds twice, as in eager mode
    launch_cooperative_grid: bool = False
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e5", "fp8e4nv")
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "ieee"
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "tf32", "tf32x3")
    max_num_imprecise_acc_default: int = 0
    extern_libs: tuple[Any, ...] = ()
    debug: bool = False
    backend_name: str = "openreg"
    sanitize_overflow: bool = True
    arch: str = ""
    instrumentation_mode: str = ""
    ir_override: str | None = None
    fpsan_homomorphic_casts: bool = False  # Triton 3.9 reads it

    def hash(self) -> str:
        """Return a part of the key under which Triton caches a kernel."""
        return hashlib.sha256(repr(self).encode()).hexdigest()


class OpenRegBackend(BaseBackend):
    """Compiles kernels: ``ttir``, then ``cpp``, then ``so``."""

    binary_ext = "so"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        """Return whether a target is this device."""
        return target.backend == "openreg"

    # LITERALINCLUDE START: TRITON_HASH
    def hash(self) -> str:
        """Return what else decides on the machine code: our sources, the toolchain."""
        digest = hashlib.sha256(toolchain.fingerprint().encode())
        for source in sorted((*HERE.rglob("*.py"), *HERE.rglob("*.h"))):
            digest.update(source.read_bytes())
        return f"openreg-{digest.hexdigest()[:16]}"

    # LITERALINCLUDE END: TRITON_HASH

    def parse_options(self, options: dict[str, Any]) -> OpenRegOptions:
        """Keep the options that this backend has; other backends have others."""
        names = {field.name for field in fields(OpenRegOptions)}
        known = {k: v for k, v in options.items() if k in names and v is not None}
        return OpenRegOptions(**{"arch": str(self.target.arch), **known})

    def pack_metadata(self, metadata: Any) -> tuple[Any, ...]:
        """Return what a launch gets of the metadata: nothing here."""
        return ()

    def get_codegen_implementation(self, options: OpenRegOptions) -> dict[str, Any]:
        """Return the callbacks of Triton's front end."""
        return {"min_dot_size": lambda lhs, rhs: (1, 1, 1)}

    def get_module_map(self) -> dict[str, ModuleType]:
        """Return the modules that stand for ``triton.language.extra`` on this device.

        The names and types are those of CUDA; `include/libdevice.h` has the functions.
        """
        from triton.language.extra.cuda import libdevice

        return {"triton.language.extra.libdevice": libdevice}

    def load_dialects(self, context: Any) -> None:
        """Load dialects of one's own: none, as the lowering reads text."""

    def add_stages(
        self, stages: dict[str, Any], options: OpenRegOptions, language: Language
    ) -> None:
        """Register the stages, in their order."""
        if language != Language.TRITON:
            raise Unsupported(
                "the Gluon language describes the hardware of GPUs; "
                "write the kernel in triton.language"
            )
        # LITERALINCLUDE START: TRITON_ADD_STAGES
        stages["ttir"] = make_ttir
        stages["cpp"] = make_cpp
        stages["so"] = lambda source, metadata: toolchain.build(
            source, fusion=options.enable_fp_fusion
        )
        # LITERALINCLUDE END: TRITON_ADD_STAGES


# LITERALINCLUDE START: TRITON_TTIR
def make_ttir(module: Any, metadata: dict[str, Any]) -> Any:
    """Simplify the IR with passes of Triton; inline the functions."""
    manager = ir.pass_manager(module.context)
    manager.enable_debug()
    passes.common.add_inliner(manager)
    versions.add_block_pointer_pass(manager)
    passes.ttir.add_rewrite_tensor_descriptor_to_pointer(manager)
    passes.common.add_canonicalizer(manager)
    passes.ttir.add_combine(manager)
    passes.ttir.add_reorder_broadcast(manager)
    passes.common.add_cse(manager)
    passes.ttir.add_triton_licm(manager)
    passes.common.add_symbol_dce(manager)
    passes.ttir.add_loop_unroll(manager)
    manager.run(module, "make_ttir")
    return module


# LITERALINCLUDE END: TRITON_TTIR


# LITERALINCLUDE START: TRITON_CPP
def make_cpp(module: Any, metadata: dict[str, Any]) -> str:
    """Translate the IR to C++ loops."""
    kernel = lower(str(module))
    metadata["name"] = re.sub(r"\W", "_", kernel.name)
    # Triton compares it with the driver's `max_shared_mem` before the first launch.
    metadata["shared"] = kernel.scratch_bytes
    return kernel.source


# LITERALINCLUDE END: TRITON_CPP
