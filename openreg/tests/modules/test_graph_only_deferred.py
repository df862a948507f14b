# Deferred eager for a device that only compiles graphs; see
# docs/modules/graph-only.md.
import io

from graph_only_support import on_device

# isort: split
import pytest
import torch
from graph_only import ChipError, DeferredEager, GraphCache, counted
from torch.testing import assert_close


def test_what_flushes():
    x = on_device(2, 3)
    points = {
        "_local_scalar_dense": lambda y: y.sum().item(),
        "_to_copy": lambda y: y.cpu(),
        "__repr__": repr,
        "numpy": lambda y: y.cpu().numpy(),
        "data_ptr": lambda y: y.data_ptr(),
        "__dlpack__": lambda y: y.__dlpack__(),
        "untyped_storage": lambda y: torch.save(y, io.BytesIO()),
        "mark_step": lambda y: deferred.mark_step(),
        "rand_like": torch.rand_like,
        "nonzero": torch.nonzero,
        "is_nonzero": lambda y: 1 if (y > 0).all() else 0,
    }
    for name, point in points.items():
        with DeferredEager() as deferred:
            y = (x + 1).view(-1)
            assert not deferred.flushes
            point(y)
            reasons = str(list(deferred.flushes))
        expected = {"numpy": "_to_copy", "is_nonzero": "_local_scalar"}.get(name, name)
        assert len(deferred.flushes) == 1 and expected in reasons, name
        assert_close(y.cpu(), x.cpu().view(-1) + 1)


def test_uploads_and_views_do_not_flush():
    with DeferredEager() as deferred:
        y = torch.ones(2, 3).to("openreg").t() + 1
        torch.empty_like(y).view(-1)
        assert not deferred.flushes
    assert deferred.flushes == {"exit": 1}


def test_limit_and_switch():
    x = on_device(2)
    for limit, launches in ((1, 4), (2, 2), (3, 2), (100, 1)):
        with counted() as counts, DeferredEager(limit=limit):
            y = ((x + 1) * 2).exp().neg()
        assert_close(y.cpu(), -((x.cpu() + 1) * 2).exp())
        assert counts.launches == launches


def test_dead_results_are_not_kept():
    """Only what the program still holds is a result of the graph."""
    seen = []

    class Watched(GraphCache):
        def get(self, key, build):
            seen.append(super().get(key, build))
            return seen[-1]

    with DeferredEager(cache=Watched()):
        y = ((on_device(2) + 1) * 2).exp()
    (binary,) = seen
    assert len(binary.outputs) == 1 and y.shape == (2,)


def test_changing_numbers_compile_again():
    x = on_device(2)
    rates = [torch.tensor(float(i), device="openreg") for i in range(3)]
    for values, compilations in (([1, 2, 3], 3), (rates, 1)):
        with DeferredEager() as deferred, counted() as counts:
            for value in values:
                y = x * value
                deferred.mark_step()
        assert_close(y.cpu(), x.cpu() * float(values[-1]))
        assert counts.compilations == compilations


def test_an_error_comes_late_and_leaves_no_values():
    x = on_device(2)
    with pytest.raises(ChipError, match="lgamma"), DeferredEager(missing="error"):
        y = x + 1
        z = y.lgamma()  # no error here
    for lost in (y, z):
        with pytest.raises(RuntimeError, match="its storage has 0"):
            lost.cpu()
    with DeferredEager(missing="error", limit=1):
        y = x + 1
        with pytest.raises(ChipError, match="lgamma"):
            y.lgamma()  # here
    assert_close(y.cpu(), x.cpu() + 1)
    with DeferredEager(), pytest.raises(RuntimeError, match="must have same reduction"):
        on_device(2, 3) @ on_device(2, 3)  # sizes precede values


def test_two_devices_and_two_dtypes_of_a_memory():
    x = on_device(4)
    with DeferredEager() as deferred:
        y, z = x + 1, x.to("openreg:1") + 2
        w = (x + 3).view(torch.int32) + 1
    assert "another device" in deferred.flushes
    assert_close(y.cpu(), x.cpu() + 1)
    assert_close(z.cpu(), x.cpu() + 2) and z.device.index == 1
    assert_close(w.cpu(), (x.cpu() + 3).view(torch.int32) + 1)
