# What the arguments of operators on sparse tensors must be; see docs/ship/sweep.md.
from typing import Any

import torch

from .schema_shapes import (
    I32,
    I64,
    Always,
    Shape,
    in_turn,
    integers,
    rank,
    same,
    size,
)

COO, COO2 = Shape(layout=torch.sparse_coo), Shape(2, layout=torch.sparse_coo)
CSR, CSC = Shape(2, layout=torch.sparse_csr), Shape(2, layout=torch.sparse_csc)

SPARSE: dict[str, dict[str, Any]] = {
    # -- sparse tensors --
    "*sparse_*tensor*": {"device": Always([torch.device("cpu")])},
    **same(
        "_coalesce _indices* indices* coalesce _values* is_coalesced "
        "_nnz _dim? sparse_resize* _sparse_softmax* "
        "_sparse_log_softmax* _sparse_sum _sparse_sparse_matmul "
        "_to_dense _coalesced* _sparse_broadcast_to*",
        {"self": COO},
    ),
    "values*": {"self": COO},
    "_sparse_softmax_backward*": {"grad_output": COO, "output": COO, "self": COO},
    "_sparse_log_softmax_backward*": {"grad_output": COO, "output": COO, "self": COO},
    "_sparse_sum_backward*": {"grad": COO, "self": COO},
    "_sparse_sparse_matmul*": {"self": COO2, "other": COO2},
    "_sparse_mask_projection*": {"self": COO, "mask": COO},
    "sparse_mask*": {"mask": COO},
    "*copy_sparse_to_sparse*": {"self": COO, "src": COO, "out": COO},
    "resize_as_sparse*": {"self": COO, "the_template": COO},
    "hspmm*": {"mat1": COO2, "mat2": rank(2)},
    "sspaddmm*": {"self": COO2, "mat1": COO2, "mat2": rank(2), "out": COO2},
    "smm": {"self": COO2, "mat2": rank(2)},
    "_sparse_mm*": {"self": COO2, "sparse": COO2, "dense": rank(2), "other": rank(2)},
    "_sparse_mm_reduce_impl*": {"self": CSR},
    "_sparse_addmm*": {"mat1": COO2, "self": rank(2), "mat2": rank(2)},
    "sparse_sampled_addmm*": {"self": CSR, "mat1": rank(2), "mat2": rank(2)},
    "_sparse_csr_*": {"self": CSR, "dim[]": [[0], [1]]},
    **same("crow_indices* col_indices*", {"self": CSR}),
    **same("ccol_indices* row_indices*", {"self": CSC}),
    "_spdiags*": {
        "diagonals": rank(2),
        "offsets": integers(1),
        "layout": [torch.sparse_coo, None],
        "shape[]": lambda draw: [draw.size] * 2,
    },
    "*sparse_coo_tensor*": {
        "indices": Shape(shape=lambda draw: (2, draw.size), dtype=I64),
        "values": rank(1),
        "size[]": lambda draw: [draw.size] * 2,
        "sparse_dim": [2],
        "dense_dim": [0],
        "layout": [None, torch.sparse_coo],
        "out": COO2,
    },
    **same(
        "*sparse_compressed_tensor* *sparse_csr_tensor* "
        "*sparse_csc_tensor* _validate_compressed_sparse_indices",
        {
            **same(
                "compressed_indices crow_indices ccol_indices compressed_idx",
                Shape(shape=lambda draw: (draw.size + 1,), dtype=I64, high=1),
            ),
            **same(
                "plain_indices col_indices row_indices plain_idx",
                Shape(shape=(0,), dtype=I64),
            ),
            "values": Shape(shape=(0,)),
            "size[]": lambda draw: [draw.size] * 2,
            "layout": Always([torch.sparse_csr, torch.sparse_csc]),
            "cdim": size,
            "dim": size,
            "nnz": [0],
            "dense_dim": [0],
            "index_dtype": [I64, I32],
            "blocksize[]": lambda draw: [],
        },
    ),
    "*sparse_csr_tensor*": {"layout": [torch.sparse_csr]},
    "*sparse_csc_tensor*": {"layout": [torch.sparse_csc]},
    **same(
        "*sparse_bsr_tensor* *sparse_bsc_tensor*",
        {
            **same(
                "crow_indices ccol_indices",
                Shape(shape=lambda draw: (draw.size + 1,), dtype=I64, high=1),
            ),
            **same("col_indices row_indices", Shape(shape=(0,), dtype=I64)),
            "values": Shape(shape=(0, 1, 1)),
            "size[]": lambda draw: [draw.size] * 2,
            "layout": [torch.sparse_bsr],
        },
    ),
    "*sparse_bsc_tensor*": {"layout": [torch.sparse_bsc]},
    "to_sparse*": {
        "layout": [None, torch.sparse_coo, torch.sparse_csr],
        "sparse_dim": [1, 2],
        "dense_dim": [None, 0],
        "blocksize[]": [None, [1, 1]],
        "rank": in_turn(2),
    },
    "_to_sparse*": {
        "layout": [torch.sparse_coo, torch.sparse_csr],
        "sparse_dim": [1, 2],
        "dense_dim": [None, 0],
        "blocksize[]": lambda draw: [1, 1],
        "rank": in_turn(2),
        "out": Shape(2, layout=torch.sparse_csr),
    },
    "_to_sparse": {"out": COO},
    "_to_sparse_csc*": {"out": CSC},
    "_to_sparse_bsr*": {"out": Shape(2, layout=torch.sparse_bsr)},
    "_to_sparse_bsc*": {"out": Shape(2, layout=torch.sparse_bsc)},
}
