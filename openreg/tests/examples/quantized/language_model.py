# Trains a small language model and quantizes it; see docs/modules/quantized-weights.md.
"""Shows size, loss and time of the model in float32, weight-only and dynamic.

python language_model.py
"""

import copy
import statistics
import time

import torch
from int8_weight import Int8Weight, quantize
from llama import LENGTH, WORDS, Llama, loss_of


def counting(count, device):
    """Sentences that count, each from another word on and in steps of its own."""
    first, step = torch.randint(WORDS, (count, 1)), torch.randint(1, 4, (count, 1))
    words = (first + step * torch.arange(LENGTH + 1)) % WORDS
    return words[:, :-1].to(device), words[:, 1:].to(device)


def train(device, steps):
    torch.manual_seed(0)
    model = Llama().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for _ in range(steps):
        given, following = counting(32, device)
        loss = loss_of(model(given), following)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model.eval()


def bytes_of(model):
    total = 0
    for weight in model.parameters():
        parts = (
            (weight.codes, weight.scales) if type(weight) is Int8Weight else [weight]
        )
        total += sum(part.nbytes for part in parts)
    return total


def seconds(model, given):
    start = time.perf_counter()
    model(given)
    torch.accelerator.synchronize()
    return time.perf_counter() - start


# LITERALINCLUDE START: STEP_RATIO
def ratio(model, exact, given, rounds=25):
    """Return how long a step takes, as a multiple of the step of `exact`."""
    pairs = [(seconds(model, given), seconds(exact, given)) for _ in range(rounds)]
    return statistics.median(ours / float32 for ours, float32 in pairs)  # (1)


# LITERALINCLUDE END: STEP_RATIO


# LITERALINCLUDE START: LANGUAGE_MODEL
def compare(device, steps=100):
    exact = train(device, steps)
    given, following = counting(64, device)
    models = {
        "float32": exact,
        "weight-only": quantize(copy.deepcopy(exact)),
        "dynamic": quantize(copy.deepcopy(exact), dynamic=True),
    }
    for name, model in models.items():
        with torch.no_grad():
            answer, times = model(given), ratio(model, exact, given)
        loss, right = loss_of(answer, following), answer.argmax(-1) == following
        yield name, bytes_of(model), loss.item(), right.float().mean().item(), times


# LITERALINCLUDE END: LANGUAGE_MODEL


if __name__ == "__main__":
    for name, size, loss, right, times in compare("openreg"):
        quality = f"loss {loss:.2f}, {right:.0%} of the words"
        print(f"{name:11} {size:6} bytes, {quality}, {times:.2f} x the time")
