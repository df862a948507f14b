# Batches pinned and copied ahead of their use; see docs/frontend/data-loading.md.
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from patience import PATIENCE
from torch.testing import assert_close
from torch.utils.data import DataLoader, Dataset, TensorDataset

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from prefetcher import Prefetcher

sys.path.pop(0)

simulator = torch.openreg.simulator
hold = simulator.hold


def data(rows: int = 12) -> TensorDataset:
    return TensorDataset(torch.arange(4.0 * rows).view(rows, 4), torch.arange(rows))


# -- what is pinned --


class Pair:
    """A batch whose class can pin itself."""

    def __init__(self, rows):
        self.x = torch.stack([row[0] for row in rows])
        self.name = "pair"

    def pin_memory(self):
        self.x = self.x.pin_memory()
        return self


class Plain:
    def __init__(self, rows):
        self.x = torch.stack([row[0] for row in rows])


def named(rows):
    x = torch.stack([row[0] for row in rows])
    return {"x": x, "list": [x + 1], "tuple": (x + 2,), "name": "rows", "size": 3}


@pytest.mark.parametrize("workers", [0, 2])
def test_what_collections_pin(workers):
    loader = DataLoader(
        data(6), 3, pin_memory=True, num_workers=workers, collate_fn=named
    )
    for batch in loader:
        tensors = [batch["x"], batch["list"][0], batch["tuple"][0]]
        assert all(t.is_pinned() for t in tensors)
        assert (batch["name"], batch["size"]) == ("rows", 3)
        assert_close(tensors[2].to("openreg", non_blocking=True).cpu(), batch["x"] + 2)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_batch_of_a_class_of_its_own(workers):
    options = {"pin_memory": True, "num_workers": workers}
    for batch in DataLoader(data(6), 3, collate_fn=Pair, **options):
        assert isinstance(batch, Pair) and batch.x.is_pinned()
    for batch in DataLoader(data(6), 3, collate_fn=Plain, **options):
        assert not batch.x.is_pinned()  # it has no pin_memory: it stays as it is


def test_pin_memory_device_is_ignored_with_a_warning():
    with pytest.warns(UserWarning, match="pin_memory_device is deprecated"):
        loader = DataLoader(data(), 4, pin_memory=True, pin_memory_device="openreg:1")
        assert all(x.is_pinned() for x, _ in loader)


def test_a_machine_without_a_device_warns_and_does_not_pin(run_forked):
    program = """
        import torch, warnings
        from torch.utils.data import DataLoader
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            (x,) = DataLoader(torch.arange(4), 4, pin_memory=True)
        print(x.is_pinned(), caught[0].message)
    """
    process = run_forked(program, OPENREG_DEVICE_COUNT="0")
    assert process.stdout == (
        "False 'pin_memory' argument is set as true but no accelerator is found, then "
        "device pinned memory won't be used.\n"
    ), process.stderr


@pytest.mark.smoke
def test_workers_that_stay(recwarn):
    loader = DataLoader(
        data(8), 4, pin_memory=True, num_workers=2, persistent_workers=True
    )
    first, second = ([x.clone() for x, _ in loader] for _ in range(2))
    assert_close(torch.cat(first), torch.cat(second))
    del loader
    # From 3.12 on, Python warns where a process with threads forks, as the loader does.
    forks = "multi-threaded, use of fork() may lead to deadlocks"
    assert [w.message for w in recwarn if forks not in str(w.message)] == []


PROGRAM = """
import sys, torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

class OnDevice(Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return torch.full((2,), index, device="openreg")

if __name__ == "__main__":
    torch.ones(1, device="openreg")  # the parent has used the device
    data = TensorDataset(torch.arange(8.0).view(4, 2))
    options = {"pin_memory": True, "num_workers": 1}
    for (x,) in DataLoader(data, 2, multiprocessing_context=sys.argv[1], **options):
        print(x.is_pinned(), x.to("openreg", non_blocking=True).tolist())
    options = {"num_workers": 1, "multiprocessing_context": sys.argv[1]}
    for x in DataLoader(OnDevice(), 2, **options):
        print(x.device, x.tolist())
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_other_ways_to_start_workers(tmp_path, method):
    program = tmp_path / "program.py"  # a file, because such workers import it
    program.write_text(PROGRAM)
    command = [sys.executable, str(program), method]
    process = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert process.stdout.splitlines() == [
        "True [[0.0, 1.0], [2.0, 3.0]]",
        "True [[4.0, 5.0], [6.0, 7.0]]",
        "openreg:0 [[0, 0], [1, 1]]",  # shared between the processes
    ], process.stderr


class OnDevice(Dataset):
    def __len__(self):
        return 2

    def __getitem__(self, index):
        return torch.ones(2, device="openreg")


def test_a_forked_worker_must_not_use_the_device():
    torch.ones(1, device="openreg")
    with pytest.raises(RuntimeError, match="Cannot re-initialize openreg in forked"):
        list(DataLoader(OnDevice(), num_workers=1))
    assert torch.stack(list(DataLoader(OnDevice(), batch_size=None))).sum().item() == 4


def test_what_is_on_the_device_cannot_be_pinned():
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        list(DataLoader(OnDevice(), pin_memory=True))


# -- the prefetcher --


def loader(batches: int = 6, **options) -> DataLoader:
    return DataLoader(data(2 * batches), 2, pin_memory=True, **options)


@pytest.mark.parametrize("seed", range(1, 5))
@pytest.mark.parametrize("workers", [0, 2])
def test_the_prefetcher_yields_what_the_loader_does(seed, workers):
    expected = [(x * 2 + 1, y) for x, y in loader()]
    with simulator.delay(300, seed=seed):
        actual = []
        for x, y in Prefetcher(loader(num_workers=workers)):
            assert x.device.type == y.device.type == "openreg"
            actual.append((x.mul_(2) + 1, y + 0))  # also writes into the batch
        actual = [(x.cpu(), y.cpu()) for x, y in actual]
    assert_close(actual, expected)


def test_the_prefetcher_is_right_for_ordinary_memory_too():
    with simulator.delay(300, seed=1):
        batches = list(Prefetcher(torch.arange(12.0).view(3, 4)))
    assert_close(torch.stack(batches).cpu(), torch.arange(12.0).view(3, 4))


def test_the_prefetcher_on_a_stream_of_high_priority():
    prefetcher = Prefetcher(loader(2))
    prefetcher.stream = torch.Stream("openreg", priority=-1)
    assert_close([y.tolist() for _, y in prefetcher], [[0, 1], [2, 3]])


def test_an_error_of_the_loader_is_raised_one_step_early():
    def batches():
        yield torch.ones(2).pin_memory()
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        next(iter(Prefetcher(batches())))


def test_the_prefetcher_takes_nested_batches_and_no_batches():
    (batch,) = Prefetcher(DataLoader(data(3), 3, pin_memory=True, collate_fn=named))
    assert batch["name"] == "rows" and batch["tuple"][0].device.type == "openreg"
    assert_close(batch["list"][0].cpu(), torch.arange(12.0).view(3, 4) + 1)
    assert list(Prefetcher([])) == []


def test_the_prefetcher_needs_an_accelerator(monkeypatch):
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: None)
    with pytest.raises(RuntimeError, match="no accelerator: loop over"):
        Prefetcher([])


def test_the_prefetcher_serves_another_device():
    for x, _ in Prefetcher(loader(2), "openreg:1"):
        assert x.device == torch.device("openreg:1")
    assert torch.openreg.current_device() == 0


def test_the_copy_runs_ahead_of_the_computation():
    prefetcher = Prefetcher(loader(2))
    batches = iter(prefetcher)
    computed = torch.Event("openreg", enable_timing=True)
    copied = torch.Event("openreg", enable_timing=True)
    with hold():  # no computation starts
        x, _ = next(batches)
        result = x * 2
        computed.record()
        copied.record(prefetcher.stream)  # behind the copy of the second batch
        prefetcher.stream.synchronize()
        assert copied.query() and not computed.query()
    torch.accelerator.synchronize()
    assert copied.elapsed_time(computed) > 0
    assert_close(result.cpu(), torch.arange(8.0).view(2, 4) * 2)


def test_the_computation_waits_for_its_copy():
    prefetcher = Prefetcher(loader(2))
    with hold(prefetcher.stream):  # no copy starts
        x, _ = next(iter(prefetcher))
        result = x * 2
        assert not torch.accelerator.current_stream().query()
    assert_close(result.cpu(), torch.arange(8.0).view(2, 4) * 2)


class NoWait(Prefetcher):
    """Forgets mark (2)."""

    def __iter__(self):
        batches = iter(self.loader)
        while (ahead := self._copy_next(batches)) is not None:
            yield ahead[0]


class NoRecord(Prefetcher):
    """Forgets mark (3)."""

    def __iter__(self):
        batches = iter(self.loader)
        ahead = self._copy_next(batches)
        while ahead is not None:
            batch, copied = ahead
            torch.accelerator.current_stream().wait_event(copied)
            ahead = self._copy_next(batches)
            yield batch


def pinned_batches(count: int) -> list[torch.Tensor]:
    return [torch.full((3000,), float(i)).pin_memory() for i in range(count)]


@pytest.mark.parametrize(("kind", "left"), [(Prefetcher, -1), (NoWait, 0)])
def test_without_the_wait_a_late_copy_overwrites_what_was_computed(kind, left):
    prefetcher = kind(pinned_batches(1))
    with hold(prefetcher.stream):
        (x,) = prefetcher
        x.fill_(-1)
        if kind is NoWait:
            torch.accelerator.current_stream().synchronize()
    torch.accelerator.synchronize()
    assert_close(x.cpu(), torch.full((3000,), float(left)))


@pytest.mark.parametrize(("kind", "seen"), [(Prefetcher, 0), (NoRecord, 2)])
def test_without_record_stream_a_later_batch_takes_the_memory(kind, seen):
    torch.accelerator.empty_cache()
    prefetcher = kind(pinned_batches(3))
    batches = iter(prefetcher)
    with hold():
        x = next(batches)
        result = x + 0  # still to come, when x has died
        del x
        next(batches)  # the third batch is being copied
        prefetcher.stream.synchronize()
    assert_close(result.cpu(), torch.full((3000,), float(seen)))


# -- your own staging buffer --


def stage(buffer: torch.Tensor, wait: bool) -> list[torch.Tensor]:
    """Copy three batches through one pinned buffer."""
    copied = torch.Event("openreg")
    batches = []
    for i in range(3):
        if wait:
            copied.synchronize()
        buffer.fill_(i)
        batches.append(buffer.to("openreg", non_blocking=True))
        copied.record()
    return batches


def test_a_buffer_is_filled_again_before_it_was_copied():
    with hold():
        batches = stage(torch.empty(4, pin_memory=True), wait=False)
    assert [x.tolist()[0] for x in batches] == [2, 2, 2]


@pytest.mark.parametrize("seed", range(1, 4))
def test_an_event_says_when_the_buffer_is_free(seed):
    with simulator.delay(2000, seed=seed):
        batches = stage(torch.empty(4, pin_memory=True), wait=True)
        assert [x.tolist()[0] for x in batches] == [0, 1, 2]


def test_new_pinned_memory_for_each_batch_needs_no_event():
    with hold():
        batches = []
        for i in range(3):
            buffer = torch.full((4,), float(i)).pin_memory()
            batches.append(buffer.to("openreg", non_blocking=True))
    assert [x.tolist()[0] for x in batches] == [0, 1, 2]
