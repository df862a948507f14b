# Attention of tensors that several processes share; see docs/modules/sharding.md.
import pytest
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.debug import CommDebugMode
from torch.distributed.tensor.experimental import context_parallel
from torch.nn import functional

WHOLE, BATCH, HEADS = Replicate(), Shard(0), Shard(1)
ATTENTION = "aten._scaled_dot_product_fused_attention_overrideable"


def inputs(sizes, bias):
    generator = torch.Generator().manual_seed(1)
    batch, heads, kv_heads, length = sizes
    shapes = [(batch, count, length, 8) for count in (heads, kv_heads, kv_heads)]
    shapes += [(batch, heads, length, 8), *([bias] if bias else [])]
    q, k, v, grad, *rest = (torch.randn(s, generator=generator) for s in shapes)
    return [q, k, v, *rest], grad


def attend(leaves, grad, groups=True):
    q, k, v, *bias = leaves = [leaf.requires_grad_() for leaf in leaves]
    mask = {"attn_mask": bias[0]} if bias else {"is_causal": True}
    out = functional.scaled_dot_product_attention(q, k, v, **mask, enable_gqa=groups)
    out.backward(grad)
    return [out.detach(), *(leaf.grad for leaf in leaves)]


def attend_together(state, shape, places, sizes, bias, groups=True):
    """Return the results, whole, where they were, and how many collectives ran."""
    mesh = init_device_mesh("openreg", shape)
    leaves, grad = inputs(sizes, bias)
    everywhere = [WHOLE] * mesh.ndim

    def placed(tensor, where):
        return distribute_tensor(tensor.to("openreg"), mesh, where)

    parts = [placed(leaf, places) for leaf in leaves[:3]]
    parts += [placed(leaf, everywhere) for leaf in leaves[3:]]
    grad = placed(grad, places)
    with CommDebugMode() as comm:
        results = attend(parts, grad, groups)
    values = [each.full_tensor().cpu() for each in results]
    return values, [each.placements for each in results], comm.get_total_counts()


S = (4, 4, 4, 6)  # batch, heads, heads of keys and values, length
CASES = {
    "copies": ((4,), [WHOLE], S, None, None),
    "batch": ((4,), [BATCH], S, None, None),
    "uneven batch": ((4,), [BATCH], (7, 4, 4, 6), None, None),
    "heads": ((4,), [HEADS], S, None, None),
    "groups of heads": ((4,), [HEADS], (2, 8, 4, 6), None, None),
    "batch and heads": ((2, 2), [BATCH, HEADS], S, None, None),
    "bias for all": ((2, 2), [BATCH, HEADS], S, (6, 6), [Partial(), Partial()]),
    "bias for a sentence": (
        (2, 2),
        [BATCH, HEADS],
        S,
        (4, 1, 6, 6),
        [BATCH, Partial()],
    ),
    "bias for a head": ((4,), [HEADS], S, (4, 6, 6), [Shard(0)]),
}
GATHERS = {
    "fewer groups than ranks": ((4,), [HEADS], (4, 8, 2, 6)),
    "ranks without sentences": ((4,), [BATCH], (5, 4, 4, 6)),
}


def check(four, shape, places, sizes, bias):
    expected = attend(*inputs(sizes, bias))
    results = four.run(attend_together, shape, places, sizes, bias)
    for result in results:
        assert not isinstance(result, str), result
        torch.testing.assert_close(result[0], expected, rtol=1e-5, atol=1e-5)
    return results[0][1:]


@pytest.mark.parametrize("name", CASES)
def test_parts_give_the_values_of_the_cpu_without_a_collective(four, name):
    shape, places, sizes, bias, gradient = CASES[name]
    placements, collectives = check(four, shape, places, sizes, bias)
    assert collectives == 0
    assert placements[:4] == [tuple(places)] * 4
    assert placements[4:] == ([tuple(gradient)] if bias else [])


@pytest.mark.parametrize("name", GATHERS)
def test_parts_that_do_not_fit_are_gathered(four, name):
    _, collectives = check(four, *GATHERS[name], None)
    assert collectives > 0


ALIKE = [
    n for n, (_, _, sizes, *_) in (CASES | GATHERS).items() if sizes[1] == sizes[2]
]


@pytest.mark.parametrize("name", ALIKE)  # as many heads of keys as of queries
def test_parts_of_the_operator_that_torch_has_strategies_for(four, name):
    shape, places, sizes, bias, *_ = *(CASES | GATHERS)[name], None
    expected = attend(*inputs(sizes, bias))
    for result in four.run(attend_together, shape, places, sizes, bias, False):
        assert not isinstance(result, str), result
        torch.testing.assert_close(result[0], expected, rtol=1e-5, atol=1e-5)


def test_context_parallelism_needs_another_operator():
    dist.init_process_group("occl", store=dist.HashStore(), rank=0, world_size=1)
    try:
        mesh = init_device_mesh("openreg", (1,))
        q = torch.randn(1, 2, 8, 8, device="openreg")
        part = distribute_tensor(q, mesh, [Shard(2)])
        with pytest.raises(NotImplementedError, match="split along the sequence"):
            functional.scaled_dot_product_attention(part, part, part, enable_gqa=True)
        with (
            context_parallel(mesh, buffers=[q], buffer_seq_dims=[2]),
            pytest.raises(NotImplementedError, match="For context parallelism"),
        ):
            functional.scaled_dot_product_attention(q, q, q, enable_gqa=True)
    finally:
        dist.destroy_process_group()


def dropout(state):
    mesh = init_device_mesh("openreg", (4,))
    q = distribute_tensor(torch.ones(1, 4, 8, 8), mesh, [HEADS])
    torch.manual_seed(5)
    out = functional.scaled_dot_product_attention(q, q, q, dropout_p=0.5).full_tensor()
    return [torch.equal(out[0, 0], out[0, i]) for i in range(4)]


def test_dropout_draws_the_same_on_each_rank(four):
    """Torch does not count attention among the random operators, on any device."""
    assert four.run(dropout) == [[True] * 4] * 4


# --- When torch learns of it ----------------------------------------------------------


def test_import_torch_does_not_import_dtensor(run_python):
    result = run_python("""
        import sys, torch, importlib.util
        name = "torch.distributed.tensor"
        assert name not in sys.modules
        assert importlib.util.find_spec(name).name == name  # looking loads nothing
        assert name not in sys.modules
        from torch.distributed.tensor import DTensor
        known = DTensor._op_dispatcher.sharding_propagator.op_strategy_funcs
        attention = torch.ops.aten._scaled_dot_product_fused_attention_overrideable
        assert attention.default in known
    """)
    assert result.returncode == 0, result.stderr


def test_a_program_that_imported_dtensor_before_the_backend(run_python):
    result = run_python(
        """
        import torch
        from torch.distributed.tensor import DTensor
        known = DTensor._op_dispatcher.sharding_propagator.op_strategy_funcs
        attention = torch.ops.aten._scaled_dot_product_fused_attention_overrideable
        assert attention.default not in known
        import torch_openreg
        assert attention.default in known
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    assert result.returncode == 0, result.stderr


def test_the_import_hook_of_another_library_is_kept(run_python):
    result = run_python("""
        import sys, torch, inspect
        from torch_openreg.openreg._sharding import _Finder as mine
        name, ran = "torch.distributed.tensor", []

        class Another(mine):
            def find_spec(self, *args):
                spec = super().find_spec(*args)
                if spec is not None:
                    spec.loader.create_module = lambda spec: ran.append(spec.name)
                return spec

        sys.meta_path.insert(-1, Another())
        first = [type(finder) for finder in sys.meta_path]
        assert first.index(mine) < first.index(Another) < len(first) - 1
        import torch.distributed.tensor as dtensor
        assert ran == [name], ran
        assert type(dtensor.__spec__.loader).__name__ == "SourceFileLoader"
        assert dtensor.__loader__ is dtensor.__spec__.loader
        assert "DTensor" in inspect.getsource(dtensor)
        known = dtensor.DTensor._op_dispatcher.sharding_propagator.op_strategy_funcs
        attention = torch.ops.aten._scaled_dot_product_fused_attention_overrideable
        assert attention.default in known
    """)
    assert result.returncode == 0, result.stderr


def without(state):
    """Return what attention says on a rank without registrations."""
    from torch.distributed.tensor import DTensor

    propagator = DTensor._op_dispatcher.sharding_propagator
    operator = torch.ops.aten._scaled_dot_product_fused_attention_overrideable.default
    strategy = propagator.op_strategy_funcs.pop(operator)
    try:
        mesh = init_device_mesh("openreg", (4,))
        q = distribute_tensor(torch.ones(4, 3, 2, 2), mesh, [BATCH])
        functional.scaled_dot_product_attention(q, q, q, enable_gqa=True)
    except Exception as error:
        return str(error)
    finally:
        propagator.op_strategy_funcs[operator] = strategy
    return ""


def test_without_a_strategy_attention_fails(four):
    text = f"Operator {ATTENTION}.default does not have a sharding strategy registered."
    for answer in four.run(without):
        assert text in answer
