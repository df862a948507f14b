"""Three networks that train on an OpenCL device; see docs/opencl/kernels.md.

Run it after building the copy: `python train.py`. It prints the losses of the device
and of the CPU, and the operators that fell back: none.
"""

import torch
from torch import nn


class Perceptron(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Linear(12, 32), nn.ReLU(), nn.LayerNorm(32), nn.Linear(32, 5)
        )

    def batch(self, generator):
        return torch.randn(16, 12, generator=generator)


class Convolutional(nn.Sequential):
    def __init__(self):
        super().__init__(
            nn.Conv2d(3, 8, 3, padding=1, bias=False),  # BatchNorm has a bias
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3, padding=1),
            nn.GELU(),
            nn.AvgPool2d(2),
            nn.Flatten(),
            nn.Linear(8 * 4, 5),
        )

    def batch(self, generator):
        return torch.randn(16, 3, 8, 8, generator=generator)


class Block(nn.Module):
    """Attention and a perceptron, each with a connection around it."""

    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(size), nn.LayerNorm(size)
        self.project, self.join = nn.Linear(size, 3 * size), nn.Linear(size, size)
        self.wide, self.narrow = nn.Linear(size, 4 * size), nn.Linear(4 * size, size)

    def forward(self, x):
        heads = self.project(self.before(x)).unflatten(-1, (3, self.heads, -1))
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        attended = nn.functional.scaled_dot_product_attention(
            query, key, value, is_causal=True
        )
        x = x + self.join(attended.transpose(1, 2).flatten(2))
        return x + self.narrow(nn.functional.gelu(self.wide(self.between(x))))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(20, 16), nn.Embedding(6, 16)
        self.blocks = nn.Sequential(Block(16, 2), Block(16, 2))
        self.head = nn.Linear(16, 5)

    def forward(self, tokens):
        places = torch.arange(tokens.size(1), device=tokens.device)
        return self.head(self.blocks(self.words(tokens) + self.places(places)).mean(1))

    def batch(self, generator):
        return torch.randint(20, (16, 6), generator=generator)


NETWORKS = Perceptron, Convolutional, Transformer
OPTIMIZERS = {
    "SGD": lambda parameters: torch.optim.SGD(parameters, 0.05, momentum=0.9),
    "Adam": lambda parameters: torch.optim.Adam(parameters, 0.01),
}


def batches(network, steps):
    generator = torch.Generator().manual_seed(3)
    for _ in range(steps):
        yield network.batch(generator), torch.randint(5, (16,), generator=generator)


def train(network, device, optimizer="SGD", steps=5, exchange=None, share=slice(None)):
    """The losses of some steps. `exchange` averages gradients over several processes,
    each of which has its `share` of every batch.
    """
    torch.manual_seed(7)
    model = network()
    data = list(batches(model, steps))
    model.to(device)
    update = OPTIMIZERS[optimizer](model.parameters())
    losses = []
    for inputs, targets in data:
        update.zero_grad()
        inputs, targets = inputs[share].to(device), targets[share].to(device)
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        if exchange is not None:
            exchange([parameter.grad for parameter in model.parameters()])
        update.step()
        losses.append(loss.detach())
    return torch.stack(losses).cpu()


if __name__ == "__main__":
    for each in NETWORKS:
        torch.ocl.reset_fallback_counts()
        print(each.__name__, "on ocl:", train(each, "ocl").tolist())
        print(" " * len(each.__name__), "on cpu:", train(each, "cpu").tolist())
        print("fell back:", torch.ocl.fallback_counts())
