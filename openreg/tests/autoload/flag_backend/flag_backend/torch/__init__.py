# The state-flag pattern: the part that needs torch; see docs/frontend/autoload.md.
# LITERALINCLUDE START: FLAG_SUBMODULE
import flag_backend

flag_backend.is_loaded = True

import torch

print("flag_backend is loaded")  # a backend registers its device here
# LITERALINCLUDE END: FLAG_SUBMODULE
