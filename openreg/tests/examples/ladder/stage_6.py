# Stage 6: layers of many kernels train on the device; see docs/start/ladder.md.
import torch

# LITERALINCLUDE START: LADDER_STAGE_6
device = torch.accelerator.current_accelerator()
getattr(torch, device.type).set_fallback_mode("error")
x = torch.randn(2, 6, 8).to(device).requires_grad_()
conv = torch.nn.Conv1d(6, 6, 3, padding=1).to(device)
attention = torch.nn.MultiheadAttention(8, 2, batch_first=True).to(device)
lstm = torch.nn.LSTM(8, 8, batch_first=True).to(device)
y = conv(x)
y, _ = attention(y, y, y)
y, _ = lstm(y)
y.square().sum().backward()
print(torch.isfinite(x.grad).all().item())
# LITERALINCLUDE END: LADDER_STAGE_6
