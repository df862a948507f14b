# A slow or small device loses no score; see docs/reference/conformance-faults.md.
import pytest
from conformance.variants import CAPABILITIES, VARIANTS
from conformance_faults import PAGE
from conformance_variants import judge_variants, row
from torch_conformance._device import TRIES, Device
from torch_conformance._slow import SLOW

LEVEL_4 = ("allocator.", "events.", "host memory.", "streams.")
# Each of the others is a part of one of these.
REPEATED = (
    "One queue for all streams of a device",
    "All but the queue at the same time",
    "These, and products that are short",
    "Each launch waits for its kernel",
)


def test_the_page_lists_every_variant():
    page = PAGE.read_text()
    for variant in VARIANTS:
        assert f"\n{row(variant)}\n" in page


def test_what_is_slow_or_small_is_not_wrong():
    names = [variant.name for variant in VARIANTS]
    numbers = [names.index(name) for name in REPEATED]
    words = (*LEVEL_4, "native operators", "profiler")
    for number, judged in zip(numbers, judge_variants(numbers, *words), strict=True):
        assert judged.failed == {}, names[number]
        assert set(judged.capabilities) == set(CAPABILITIES)
        assert judged.lacks == set(VARIANTS[number].lacks), names[number]


@pytest.mark.parametrize("found", [[True], [False, True], TRIES * [False]], ids=str)
def test_a_busy_machine_hides_no_capability(found, monkeypatch):
    device, early, overlaps = Device("cpu"), list(found), list(found)
    monkeypatch.setattr(device, "warm", lambda *_: None)
    monkeypatch.setattr(device, "_passes", lambda _: overlaps.pop(0))
    monkeypatch.setattr(
        device, "seconds_with_slow", lambda *_: 0 if early.pop(0) else SLOW
    )
    assert device.returns_early() == device.overlap() == found[-1]
    assert not early and not overlaps
