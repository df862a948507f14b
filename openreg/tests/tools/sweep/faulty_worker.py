# A worker whose operators are wrong on purpose, for openreg/tests/ship/test_sweep.py.
import os
import sys
import time

import torch
from torch.testing._internal.opinfo.core import OpInfo, SampleInput

from . import worker
from .cases import OPERATORS


def crash(x: torch.Tensor) -> torch.Tensor:
    if x.device.type == "openreg":
        os.abort()
    return x


def hang(x: torch.Tensor) -> torch.Tensor:
    if x.device.type == "openreg":
        time.sleep(600)
    return x


def fault(x: torch.Tensor) -> torch.Tensor:
    if x.device.type == "openreg":
        torch.openreg.simulator.fail_kernel()
        x.clone().fill_(1)
    return x


def late(x: torch.Tensor) -> torch.Tensor:
    if x.device.type == "openreg":
        raise ValueError("only here")
    return x


def silent(x: torch.Tensor) -> torch.Tensor:
    if x.device.type == "cpu":
        raise ValueError("only there")
    return x


FAULTY = {
    "crash": crash,
    "hang": hang,
    "fault": fault,
    "late": late,
    "silent": silent,
    "value": lambda x: x * (1.001 if x.device.type == "openreg" else 1),
    "shape": lambda x: x[None] if x.device.type == "openreg" else x * 1,
    "strides": lambda x: x.mT.contiguous().mT if x.device.type == "openreg" else x * 1,
    "dtype": lambda x: x.double() if x.device.type == "openreg" else x * 1,
    "device": lambda x: x.cpu(),
    "other device": lambda x: x.to("openreg:1") if x.device.type != "cpu" else x * 1,
    "input": lambda x: (x * 1, x.zero_() if x.device.type == "openreg" else x)[0],
    "view": lambda x: x if x.device.type == "openreg" else x.clone(),
    "both": lambda x: FAULTY["value" if len(x) == 2 else "fault"](x),
    "fine": lambda x: x * 2,
}


def _samples(op, device, dtype, requires_grad, **kwargs):
    for size in (2, 4):
        yield SampleInput(torch.rand(size, 3, device=device, dtype=dtype) + 1)


if __name__ == "__main__":
    for name, function in FAULTY.items():
        OPERATORS[name] = OpInfo(
            name, op=function, dtypes={torch.float32}, sample_inputs_func=_samples
        )
    worker.main(sys.argv[1], {}, float(sys.argv[3]))
