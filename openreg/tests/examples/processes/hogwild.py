# Several processes train one model; see docs/frontend/multiprocessing.md.
"""Hogwild: no lock, no message, every process changes the same parameters."""

import torch
import torch.multiprocessing as mp


# LITERALINCLUDE START: HOGWILD
def train(rank, model, inputs, targets):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(100):
        optimizer.zero_grad()
        loss = (model(inputs[rank]) - targets[rank]).square().mean()
        loss.backward()
        optimizer.step()
    torch.accelerator.synchronize()


if __name__ == "__main__":
    torch.manual_seed(0)
    inputs = torch.randn(3, 64, 4)
    truth = torch.tensor([[1.0], [-2.0], [3.0], [0.5]])
    data = inputs.to("openreg"), (inputs @ truth).to("openreg")
    model = torch.nn.Linear(4, 1, device="openreg")
    mp.spawn(train, args=(model, *data), nprocs=3)
    print([round(weight, 3) for weight in model.weight[0].tolist()])
# LITERALINCLUDE END: HOGWILD
