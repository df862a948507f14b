# Stage 3: a network trains by fallback; see docs/start/ladder.md.
import torch


# LITERALINCLUDE START: LADDER_STAGE_3
def train(device: torch.device) -> list[float]:
    torch.manual_seed(0)
    inputs = torch.randn(16, 4)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU()).to(device)
    optimizer = torch.optim.Adam(model.parameters())
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(inputs.to(device)).square().sum()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


device = torch.accelerator.current_accelerator()
print(train(device)[-1] < train(device)[0], device.type != "cpu")
# LITERALINCLUDE END: LADDER_STAGE_3
