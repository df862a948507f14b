# Changes settings after a launch, in the sweep; see docs/ship/sweep.md.
"""A kernel runs with the settings of its launch, whatever they are when it runs."""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import torch
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._pytree import tree_leaves, tree_map

from .calls import call, outcome
from .mirror import mirror, parts, tensors

# How long an operator may wait for the device before the device goes on: some need a
# value from it. A launch takes a thousandth of that; some operators have a thousand
# samples, and each is held four times.
PATIENCE = 0.02  # seconds


@contextlib.contextmanager
def strict() -> Iterator[None]:
    """Refuse what is not deterministic; flush denormals; check sparse tensors."""
    with _restored():
        torch.set_default_dtype(torch.float64)
        torch.use_deterministic_algorithms(True)
        torch.set_flush_denormal(True)
        torch.sparse.check_sparse_tensor_invariants.enable()
        yield


@contextlib.contextmanager
def loose() -> Iterator[None]:
    """Warn about it; compute on other threads."""
    with _restored():
        torch.set_default_dtype(torch.float16)
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = False
        torch.set_num_threads(2)
        torch.set_warn_always(True)
        yield


@contextlib.contextmanager
def later() -> Iterator[None]:
    """Round the factors of products; flush denormal numbers; do without oneDNN.

    The results of the CPU with these settings are less precise, or differ in the last
    bits. So it is the kernels that run with them, and the launch that does not.
    """
    with _restored():
        torch.set_default_dtype(torch.float16)
        torch.set_flush_denormal(True)
        torch.set_float32_matmul_precision("medium")
        torch.sparse.check_sparse_tensor_invariants.enable()
        torch.backends.mkldnn.set_flags(_enabled=False, _fp32_precision=None)
        yield


# LITERALINCLUDE START: LAUNCHED
def launched(op: OpInfo, sample: SampleInput) -> Any:
    """Launch with some settings, and run the kernels with the usual ones; or converse.

    The CPU computes with the settings of the launch.
    """
    on_device = any(
        isinstance(leaf, torch.Tensor | torch.device) or leaf == "openreg:0"
        for leaf in tree_leaves(parts(sample))
    )
    hold = held if on_device else contextlib.nullcontext
    found = []
    for settings in (strict, loose):
        copy = mirror(sample, None)
        with hold(), settings():
            found.append(outcome(lambda: call(op, copy)))  # noqa: B023
    copy = mirror(sample, None)
    if any(x.dtype == torch.float32 for x in tensors(parts(copy))):
        copy.input, copy.args, copy.kwargs = tree_map(_denormal, parts(copy))
        with hold(), strict():
            found.append(_zeros(outcome(lambda: call(op, copy))))
    with contextlib.ExitStack() as meanwhile:
        with hold():
            found.append(outcome(lambda: call(op, sample)))
            meanwhile.enter_context(later())
        torch.accelerator.synchronize()
    return found


# LITERALINCLUDE END: LAUNCHED


@contextlib.contextmanager
def held() -> Iterator[None]:
    """Hold the device, at most until somebody has waited for long."""
    holds, done = threading.Event(), threading.Event()

    def hold() -> None:
        with torch.openreg.simulator.hold():
            holds.set()
            done.wait(PATIENCE)

    thread = threading.Thread(target=hold)
    thread.start()
    holds.wait()
    try:
        yield
    finally:
        done.set()
        thread.join()


@contextlib.contextmanager
def _restored() -> Iterator[None]:
    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    precision = torch.get_float32_matmul_precision()
    invariants = torch.sparse.check_sparse_tensor_invariants
    checked = invariants.is_enabled()
    try:
        yield
    finally:
        (invariants.enable if checked else invariants.disable)()
        torch.backends.mkldnn.set_flags(_enabled=True, _fp32_precision=None)
        torch.set_warn_always(False)
        torch.set_num_threads(threads)
        torch.set_float32_matmul_precision(precision)
        torch.set_flush_denormal(False)
        torch.utils.deterministic.fill_uninitialized_memory = True
        torch.use_deterministic_algorithms(False)
        torch.set_default_dtype(dtype)


def _denormal(leaf: Any) -> Any:
    """Make numbers so small that a processor which flushes them has zeros."""
    if isinstance(leaf, torch.Tensor) and leaf.dtype == torch.float32:
        return leaf.sign() * 1e-40
    return leaf


def _zeros(result: Any) -> Any:
    """Return where the results are zero."""
    return [x == 0 for x in tensors(result)] if not isinstance(result, str) else result
