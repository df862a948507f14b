# Stage 0: the device has a name and a module; see docs/start/ladder.md.
import torch

# LITERALINCLUDE START: LADDER_STAGE_0
name = torch._C._get_privateuse1_backend_name()
module = torch.get_device_module(name)
print(torch.device(name, 1), module.__name__.partition(".")[2] != "")
# LITERALINCLUDE END: LADDER_STAGE_0
