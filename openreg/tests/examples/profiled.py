# Copies and products on two streams, under the profiler; see docs/modules/profiler.md.
import sys

import torch
from torch.profiler import profile


# LITERALINCLUDE START: PROFILED
def compute(batches, weight, copies):
    for batch in batches:
        with torch.openreg.stream(copies):
            x = batch.to("openreg", non_blocking=True)
        torch.openreg.current_stream().wait_stream(copies)
        x.record_stream(torch.openreg.current_stream())
        x @ weight


def main(path):
    batches = [torch.randn(2048, 1024).pin_memory() for _ in range(8)]
    weight = torch.randn(1024, 8, device="openreg")
    copies = torch.openreg.Stream()
    compute(batches, weight, copies)  # the first time is slower
    torch.openreg.synchronize()
    with profile() as prof:
        compute(batches, weight, copies)
    prof.export_chrome_trace(path)


# LITERALINCLUDE END: PROFILED


if __name__ == "__main__":
    main(sys.argv[1])
