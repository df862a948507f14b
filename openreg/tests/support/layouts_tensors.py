# Sparse tensors of every kind, on the CPU; see docs/operators/layouts.md.
import warnings

import torch


def holes(*sizes: int, seed: int = 0, dtype: torch.dtype = torch.float32):
    """Return a dense tensor half of whose elements are zero."""
    generator = torch.Generator().manual_seed(seed + sum(sizes))
    x = torch.randn(sizes, generator=generator)
    return (x * (x > 0) * 3).to(dtype)


def coo_tensors(seed: int = 0) -> dict[str, torch.Tensor]:
    """Coalesced and not, hybrid, of several dtypes and dimensions, and empty ones."""
    indices = torch.tensor([[0, 0, 1, 3], [1, 1, 2, 3]])
    values = torch.tensor([1.0, 2.0, 3.0, -4.0]) * (seed + 1)
    pairs = torch.arange(8.0).view(4, 2) + seed
    nothing = torch.zeros(2, 0, dtype=torch.long)
    return {
        "float32": holes(4, 4, seed=seed).to_sparse(),
        "float64": holes(4, 4, seed=seed, dtype=torch.float64).to_sparse(),
        "bfloat16": holes(4, 4, seed=seed, dtype=torch.bfloat16).to_sparse(),
        "complex64": holes(4, 4, seed=seed, dtype=torch.complex64).to_sparse(),
        "int64": holes(4, 4, seed=seed, dtype=torch.int64).to_sparse(),
        "int8": holes(4, 4, seed=seed, dtype=torch.int8).to_sparse(),
        "bool": holes(4, 4, seed=seed, dtype=torch.bool).to_sparse(),
        "repeated": torch.sparse_coo_tensor(indices, values, (4, 4)),
        "hybrid": torch.sparse_coo_tensor(indices, pairs, (4, 4, 2)),
        "hybrid coalesced": torch.sparse_coo_tensor(
            indices, pairs, (4, 4, 2)
        ).coalesce(),
        "one sparse dimension": holes(4, 4, seed=seed).to_sparse(1),
        "three dimensions": holes(2, 4, 4, seed=seed).to_sparse(),
        "vector": holes(4, seed=seed).to_sparse(),
        "no elements": torch.sparse_coo_tensor(nothing, torch.zeros(0), (4, 4)),
        "no rows": torch.sparse_coo_tensor(nothing, torch.zeros(0), (0, 4)),
    }


def compressed_tensors(seed: int = 0) -> dict[str, torch.Tensor]:
    """All four layouts: of several dtypes, batched, hybrid, and empty ones."""
    x = holes(4, 4, seed=seed)
    found = {}
    for name, dtype in (
        ("float32", torch.float32),
        ("float64", torch.float64),
        ("complex64", torch.complex64),
        ("int64", torch.int64),
        ("bool", torch.bool),
    ):
        found |= _each_layout(name, x.to(dtype))
    found |= _each_layout("batched", torch.stack([x, x * 2]))
    found |= _each_layout("hybrid", torch.stack([x, x * 2], -1), dense_dim=1)
    found |= _each_layout("no elements", torch.zeros(4, 4))
    found["csr no rows"] = torch.zeros(0, 4).to_sparse_csr()
    csr = x.to_sparse_csr()
    found["csr int32 indices"] = torch.sparse_csr_tensor(
        csr.crow_indices().int(), csr.col_indices().int(), csr.values(), (4, 4)
    )
    return found


def dense_tensors() -> dict[str, torch.Tensor]:
    dtypes = (torch.float32, torch.complex64, torch.int32, torch.uint8, torch.bool)
    return {str(dtype)[6:]: holes(4, 6, dtype=dtype) for dtype in dtypes} | {
        "three dimensions": holes(2, 4, 4),
        "four dimensions": holes(2, 3, 4, 4),
        "vector": holes(5),
        "scalar": torch.tensor(2.0),
        "no rows": torch.zeros(0, 4),
    }


def _each_layout(name: str, x: torch.Tensor, dense_dim: int = 0):
    return {
        f"csr {name}": x.to_sparse_csr(dense_dim=dense_dim),
        f"csc {name}": x.to_sparse_csc(dense_dim=dense_dim),
        f"bsr {name}": x.to_sparse_bsr((2, 2), dense_dim=dense_dim),
        f"bsc {name}": x.to_sparse_bsc((2, 2), dense_dim=dense_dim),
    }


def every_tensor() -> dict[str, torch.Tensor]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls these layouts a prototype
        coo, compressed = coo_tensors(), compressed_tensors()
    kinds = {"dense": dense_tensors(), "coo": coo, "": compressed}
    return {
        f"{kind} {name}".strip(): tensor
        for kind, tensors in kinds.items()
        for name, tensor in tensors.items()
    }
