# Trains an MLP on the starter device and on the CPU; see docs/start/first-backend.md.
import torch


# LITERALINCLUDE START: STARTER_TRAIN
def train(device: str) -> tuple[list[float], torch.nn.Module]:
    torch.manual_seed(0)
    inputs, targets = torch.randn(64, 8), torch.randint(4, (64,))
    hidden = torch.nn.Linear(8, 16), torch.nn.ReLU()
    model = torch.nn.Sequential(*hidden, torch.nn.Linear(16, 4)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        outputs = model(inputs.to(device))
        loss = torch.nn.functional.cross_entropy(outputs, targets.to(device))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, model


losses, model = train("starter")
expected, reference = train("cpu")
print(
    f"loss: {losses[0]:.4f} to {losses[-1]:.4f}, on {next(model.parameters()).device}"
)
pairs = zip(model.parameters(), reference.parameters(), strict=True)
same = all(torch.equal(mine.cpu(), theirs) for mine, theirs in pairs)
print("bit-equal to the CPU:", losses == expected and same)
# LITERALINCLUDE END: STARTER_TRAIN
