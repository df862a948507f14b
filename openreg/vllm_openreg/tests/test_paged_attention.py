# Paged attention against dense attention; see docs/frontend/serving-attention.md.
import pytest
import torch
from vllm_openreg.paged_attention import paged_attention, write_kv_cache

pytestmark = pytest.mark.usefixtures("no_fallback")
BLOCK, FEATURES, BLOCKS = 16, 8, 24
# Each request: how many tokens the cache had before, and how many are new.
BATCHES = {
    "prefill": [(0, 5), (0, 33)],
    "decode": [(4, 1), (40, 1), (15, 1)],
    "chunk of a prompt": [(16, 16), (32, 7)],
    "all at once": [(0, 20), (30, 1), (17, 6), (7, 0)],
}


def dense(query, keys, values, past, scale, window):
    """Softmax over each pair, written out: nothing of it is in the operator."""
    result = torch.empty_like(query)
    share = query.shape[1] // keys.shape[1]
    for row in range(query.shape[0]):
        last = past + row
        first = max(0, last - window + 1) if window else 0
        for head in range(query.shape[1]):
            k = keys[first : last + 1, head // share]
            v = values[first : last + 1, head // share]
            weight = torch.softmax((k @ query[row, head]) * scale, dim=0)
            result[row, head] = weight @ v
    return result


class Batch:
    """Random requests, with their past in random blocks of a cache on the device."""

    def __init__(self, requests, heads, groups, dtype):
        self.requests = requests
        lengths = [past + new for past, new in requests]
        self.keys, self.values = (
            [torch.randn(n, groups, FEATURES, dtype=dtype) for n in lengths]
            for _ in range(2)
        )
        self.queries = [
            torch.randn(new, heads, FEATURES, dtype=dtype) for _, new in requests
        ]
        # What no request owns is not a number: reading it would show.
        pages = torch.full((BLOCKS, BLOCK, groups, 2 * FEATURES), torch.nan)
        self.pages = pages.to("openreg", dtype)
        free = torch.randperm(BLOCKS).tolist()
        self.table = torch.zeros(len(requests), 4, dtype=torch.int32)
        self.slots = []
        for row, length in enumerate(lengths):
            own = [free.pop() for _ in range(-(-length // BLOCK))]
            self.table[row, : len(own)] = torch.tensor(own)
            places = [own[i // BLOCK] * BLOCK + i % BLOCK for i in range(length)]
            self.slots.append(torch.tensor(places, dtype=torch.long))

    def write(self, part):
        """Store a part of each request: slice(None, past) or slice(past, None)."""
        for index, (past, _) in enumerate(self.requests):
            chosen = slice(None, past) if part == "past" else slice(past, None)
            key, value = self.keys[index][chosen], self.values[index][chosen]
            write_kv_cache(
                *(key.to("openreg"), value.to("openreg"), self.pages),
                self.slots[index][chosen].to("openreg"),
            )

    def attend(self, scale, window):
        query = torch.cat(self.queries)
        starts = [0]
        for _, new in self.requests:
            starts.append(starts[-1] + new)
        # Two rows more than tokens, as a padded batch of vLLM has.
        output = torch.full((len(query) + 2, *query.shape[1:]), 7.0, dtype=query.dtype)
        output = output.to("openreg")
        padded = torch.cat((query, query.new_zeros(2, *query.shape[1:])))
        paged_attention(
            *(output, padded.to("openreg"), self.pages, self.table.to("openreg")),
            *(starts, [past + new for past, new in self.requests], scale, window),
        )
        return output.cpu()

    def expected(self, scale, window, dtype=torch.float64):
        rows = [
            dense(q.to(dtype), k.to(dtype), v.to(dtype), past, scale, window)
            for q, k, v, (past, _) in zip(
                self.queries, self.keys, self.values, self.requests, strict=True
            )
        ]
        return torch.cat(rows)


@pytest.mark.parametrize("window", [0, 1, 10, 40])
@pytest.mark.parametrize("groups", [4, 2, 1])
@pytest.mark.parametrize("requests", BATCHES.values(), ids=list(BATCHES))
def test_float32(requests, groups, window):
    batch = Batch(requests, 4, groups, torch.float32)
    batch.write("past")
    batch.write("new")
    result, expected = batch.attend(0.3, window), batch.expected(0.3, window)
    torch.testing.assert_close(result[:-2].double(), expected, atol=1e-5, rtol=1e-5)
    assert (result[-2:] == 7).all()  # rows that no request owns are left alone


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("window", [0, 10])
@pytest.mark.parametrize("requests", BATCHES.values(), ids=list(BATCHES))
def test_half_precision(requests, window, dtype):
    """The error against exact results is that of the same dtype on the CPU."""
    batch = Batch(requests, 4, 2, dtype)
    batch.write("past")
    batch.write("new")
    result = batch.attend(0.3, window)[:-2].double()
    exact = batch.expected(0.3, window)
    rounded = batch.expected(0.3, window, dtype).double()  # rounds in each step
    allowed = (rounded - exact).abs().max() + torch.finfo(dtype).eps
    assert (result - exact).abs().max() <= allowed
    assert (rounded - exact).abs().max() > 0  # the reference does round


def test_blocks_that_a_window_left_are_not_read():
    """vLLM takes them back, and points the table at a block of another request."""
    batch = Batch([(40, 1)], 4, 2, torch.float32)
    batch.write("past")
    batch.write("new")
    whole = batch.attend(0.3, 8)
    batch.table[0, :2] = BLOCKS - 1  # tokens 0 to 31; the window starts at 33
    batch.pages[BLOCKS - 1] = torch.nan
    assert torch.equal(batch.attend(0.3, 8), whole)


@pytest.mark.parametrize("operator", ["write_kv_cache", "paged_attention"])
def test_opcheck(operator):
    """Schema, fake results, and what the operator changes in place."""
    pages = torch.zeros(4, BLOCK, 2, 2 * FEATURES, device="openreg")
    heads = torch.randn(3, 2, FEATURES).to("openreg")
    table = torch.zeros(1, 4, dtype=torch.int32, device="openreg")
    slots = torch.arange(3, device="openreg")
    arguments = {
        "write_kv_cache": (heads, heads, pages, slots),
        "paged_attention": (heads.clone(), heads, pages, table, [0, 3], [3], 0.3, 0),
    }
    call = getattr(torch.ops.vllm_openreg, operator)
    torch.library.opcheck(call, arguments[operator])
