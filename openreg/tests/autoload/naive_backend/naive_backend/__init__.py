# What breaks if the hook stands below `import torch`; see docs/frontend/autoload.md.
# LITERALINCLUDE START: NAIVE_PACKAGE
import torch

print("naive_backend is loaded")  # a backend registers its device here


def _autoload():
    pass


# LITERALINCLUDE END: NAIVE_PACKAGE
