# Seeds, offsets and states of generators; see docs/runtime/generator.md.
import copy
import pickle
import struct
import threading

import pytest
import torch
from torch.testing import assert_close

MASK = 2**32 - 1


def philox(seed: int, low: int, high: int = 0) -> list[int]:
    """Philox 4x32-10, from the paper once more: the oracle of this file."""
    key = [seed & MASK, seed >> 32]
    x = [low & MASK, low >> 32, high & MASK, high >> 32]
    for _ in range(10):
        first, second = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [
            second >> 32 ^ x[1] ^ key[0],
            second & MASK,
            first >> 32 ^ x[3] ^ key[1],
            first & MASK,
        ]
        key = [(key[0] + 0x9E3779B9) & MASK, (key[1] + 0xBB67AE85) & MASK]
    return x


def words(count: int, generator: torch.Generator) -> list[int]:
    """The random bits that the device draws, 32 each."""
    raw = torch.empty(count // 2, dtype=torch.int64, device="openreg")
    raw.random_(-(2**63), None, generator=generator)
    return [
        word for value in raw.tolist() for word in (value & MASK, value >> 32 & MASK)
    ]


@pytest.mark.parametrize(
    ("seed", "low", "high", "block"),
    [
        (0, 0, 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        (2**64 - 1, 2**64 - 1, 2**64 - 1, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            0x299F31D0A4093822,
            0x85A308D3243F6A88,
            0x0370734413198A2E,
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_the_oracle_gives_the_published_answers(seed, low, high, block):
    assert philox(seed, low, high) == [int(word, 16) for word in block.split()]


@pytest.mark.parametrize("seed", [0, 1, 2**32 + 5, 2**64 - 1])
@pytest.mark.parametrize("offset", [0, 3, 2**32 - 2, 2**64 - 20])
def test_the_device_draws_the_words_of_philox(seed, offset):
    generator = torch.Generator("openreg").manual_seed(seed)
    generator.set_offset(offset)
    expected = [w for block in range(50) for w in philox(seed, offset + block)]
    assert words(200, generator)[:64] == [
        w for i in range(16) for w in philox(seed, (offset + i) % 2**64)
    ]
    generator.set_offset(offset)
    if offset + 50 < 2**64:
        assert words(200, generator) == expected


def test_a_new_generator_has_torchs_default_seed_and_the_current_device():
    generator = torch.Generator("openreg")
    assert generator.device == torch.device("openreg:0")
    assert generator.initial_seed() == torch.Generator().initial_seed()
    assert generator.get_offset() == 0
    with torch.openreg.device(1):
        assert torch.Generator("openreg").device == torch.device("openreg:1")
    assert torch.Generator("openreg:1").device == torch.device("openreg:1")
    assert torch.Generator(torch.device("openreg", 1)).device.index == 1


def test_a_generator_of_a_missing_device_is_refused():
    with pytest.raises(torch.AcceleratorError, match="99"):
        torch.Generator("openreg:99")


def test_the_seed_may_be_any_64_bits():
    generator = torch.Generator("openreg")
    for seed, stored in ((2**64 - 1, 2**64 - 1), (-1, 2**64 - 1), (5, 5)):
        assert generator.manual_seed(seed) is generator
        assert generator.initial_seed() == stored
    with pytest.raises(ValueError, match=r"[Oo]verflow"):
        generator.manual_seed(2**64)
    assert generator.initial_seed() == 5
    assert generator.seed() == generator.initial_seed()
    assert generator.seed() != 5


def test_seeding_sets_the_offset_to_zero():
    generator = torch.Generator("openreg")
    generator.set_offset(77)
    generator.manual_seed(1)
    assert generator.get_offset() == 0
    generator.set_offset(77)
    generator.seed()
    assert generator.get_offset() == 0


def test_the_state_is_seed_and_offset_in_a_cpu_byte_tensor():
    generator = torch.Generator("openreg").manual_seed(2**63 + 11)
    generator.set_offset(2**40)
    state = generator.get_state()
    assert (state.dtype, state.device.type, state.shape) == (torch.uint8, "cpu", (16,))
    assert struct.unpack("<QQ", bytes(state.tolist())) == (2**63 + 11, 2**40)
    other = torch.Generator("openreg:1").set_state(state)
    assert other.device.index == 1  # a state belongs to no device
    assert words(64, other) == words(64, generator)


def test_bad_states_are_refused_and_change_nothing():
    generator = torch.Generator("openreg").manual_seed(4)
    generator.set_offset(9)
    before = generator.get_state()
    good = torch.zeros(16, dtype=torch.uint8)
    for bad, kind, text in (
        (
            torch.zeros(3, dtype=torch.uint8),
            RuntimeError,
            "16 bytes, this tensor has 3",
        ),
        (torch.zeros(16), TypeError, r"torch\.ByteTensor"),
        (good.to("openreg"), TypeError, r"torch\.ByteTensor"),
        (torch.zeros(32, dtype=torch.uint8)[::2], RuntimeError, "contiguous"),
        (good.to_sparse(), TypeError, r"torch\.ByteTensor"),
        (torch.Generator().get_state(), RuntimeError, "this tensor has 5056"),
    ):
        with pytest.raises(kind, match=text):
            generator.set_state(bad)
    with pytest.raises(TypeError):
        generator.set_state(b"0123456789abcdef")
    assert torch.equal(generator.get_state(), before)


def test_a_state_restores_the_middle_of_a_stream():
    generator = torch.Generator("openreg").manual_seed(8)
    torch.rand(5, device="openreg", generator=generator)
    state = generator.get_state()
    first = torch.randn(7, device="openreg", generator=generator)
    generator.set_state(state)
    again = torch.randn(7, device="openreg", generator=generator)
    assert_close(first.cpu(), again.cpu(), rtol=0, atol=0)


def test_pickle_and_deepcopy_keep_the_place():
    generator = torch.Generator("openreg:1").manual_seed(8)
    generator.set_offset(1234)
    for copied in (pickle.loads(pickle.dumps(generator)), copy.deepcopy(generator)):
        assert copied.device == torch.device("openreg:1")
        assert copied.initial_seed() == 8
        assert copied.get_offset() == 1234
        assert words(64, copied) == words(64, generator.clone_state())
    assert generator.get_offset() == 1234


def test_a_clone_goes_its_own_way():
    generator = torch.Generator("openreg").manual_seed(8)
    clone = generator.clone_state()
    words(8, generator)
    assert (clone.get_offset(), generator.get_offset()) == (0, 2)
    clone.manual_seed(5)
    assert generator.initial_seed() == 8


def test_a_graphsafe_state_shares_seed_and_offset():
    generator = torch.Generator("openreg").manual_seed(8)
    shared = generator.graphsafe_get_state()
    assert shared.device == generator.device
    words(8, generator)
    assert shared.get_offset() == 2
    shared.manual_seed(3)
    assert generator.initial_seed() == 3
    other = torch.Generator("openreg")
    assert other.graphsafe_set_state(shared) is other
    words(8, other)
    assert generator.get_offset() == shared.get_offset() == 2
    other.graphsafe_set_state(torch.Generator("openreg").manual_seed(1))
    words(8, other)
    assert generator.get_offset() == 2  # no longer shared


def test_a_graphsafe_state_of_another_type_is_refused():
    generator = torch.Generator("openreg").manual_seed(8)
    with pytest.raises(TypeError, match="openreg generator, but got one of device cpu"):
        generator.graphsafe_set_state(torch.Generator())
    assert generator.initial_seed() == 8


def test_the_compiler_can_use_the_generators():
    from torch._functorch._aot_autograd import utils
    from torch._prims.rng_prims import graphsafe_run_with_rng_state

    device = torch.device("openreg:1")
    assert utils.supports_graphsafe_rng(device)
    default = utils.get_default_generator(device)
    assert default is torch.openreg.default_generators[1]
    assert torch.equal(utils.get_device_rng_state(device), default.get_state())

    default.manual_seed(1)
    saved = default.clone_state()
    rand = torch.ops.aten.rand.default
    first = rand([4], device=device)
    offset = default.get_offset()
    again = graphsafe_run_with_rng_state(rand, [4], device=device, rng_state=saved)
    assert_close(again.cpu(), first.cpu(), rtol=0, atol=0)
    assert default.get_offset() == offset  # it has its own words back
    assert saved.get_offset() == offset


def test_registering_with_the_compiler_does_not_load_it(run_forked):
    process = run_forked(
        """
        import sys
        import torch
        print(torch.openreg.is_initialized(), "torch._dynamo" in sys.modules)
        """
    )
    assert process.stdout == "False False\n", process.stderr


def test_every_device_has_one_default_generator():
    count = torch.openreg.device_count()
    generators = torch.openreg.default_generators
    assert len(generators) == count
    assert [g.device.index for g in generators] == list(range(count))
    assert generators[0] is generators[0]
    assert [g.device for g in generators[:2]] == [g.device for g in generators][:2]
    assert generators[-1] is generators[count - 1]
    assert generators[-count] is generators[0]
    for beyond in (99, count, -count - 1):
        with pytest.raises(IndexError, match=f"no device {beyond}"):
            generators[beyond]
    with pytest.raises(TypeError, match="index of a generator is '0', not an int"):
        generators["0"]


def test_eight_threads_never_draw_the_same_block():
    generator = torch.Generator("openreg").manual_seed(6)
    each, draws = 4 * 8, 25
    results: list[list[int]] = [[] for _ in range(8)]

    def draw(index: int) -> None:
        for _ in range(draws):
            results[index] += words(each, generator)
            generator.initial_seed()  # takes no lock in torch
            generator.get_state()

    threads = [threading.Thread(target=draw, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    blocks = 8 * draws * each // 4
    assert generator.get_offset() == blocks
    expected = [word for i in range(blocks) for word in philox(6, i)]
    assert sorted(w for result in results for w in result) == sorted(expected)


def test_swapping_words_while_others_draw_loses_nothing():
    generator = torch.Generator("openreg").manual_seed(1)
    other = torch.Generator("openreg").manual_seed(2)
    mine, theirs = generator.graphsafe_get_state(), other.graphsafe_get_state()
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            generator.graphsafe_set_state(theirs)
            generator.graphsafe_set_state(mine)

    thread = threading.Thread(target=swap)
    thread.start()
    for _ in range(300):
        torch.rand(4, device="openreg", generator=generator)
    stop.set()
    thread.join()
    assert mine.get_offset() + theirs.get_offset() == 300
