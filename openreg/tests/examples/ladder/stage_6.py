# Stage 6: what no fallback covers trains; see docs/start/ladder.md.
import torch

# LITERALINCLUDE START: LADDER_STAGE_6
device = torch.accelerator.current_accelerator()
x = torch.randn(2, 6, 8, device=device, requires_grad=True)
conv = torch.nn.Conv1d(6, 6, 3, padding=1).to(device)
attention = torch.nn.MultiheadAttention(8, 2, batch_first=True).to(device)
lstm = torch.nn.LSTM(8, 8, batch_first=True).to(device)
y = conv(x)
y, _ = attention(y, y, y)
y, _ = lstm(y)
y.square().sum().backward()
print(torch.isfinite(x.grad).all().item())
# LITERALINCLUDE END: LADDER_STAGE_6
