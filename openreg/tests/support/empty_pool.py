# A stream from which no memory was taken yet; see docs/runtime/memory.md.
import torch


def stream_without_memory() -> torch.Stream:
    """Return a stream whose pool is empty, whatever earlier tests still hold."""
    torch.openreg.empty_cache()
    used = {segment["stream"] for segment in torch.openreg.memory_snapshot()}
    streams = (torch.Stream("openreg") for _ in range(32))  # then they come again
    return next(stream for stream in streams if stream.stream_id not in used)
