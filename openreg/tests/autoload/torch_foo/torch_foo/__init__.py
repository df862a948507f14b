# The smallest package that torch loads by itself; see docs/frontend/autoload.md.
"""Gives torch a device named "foo" and the module torch.foo, in Python alone."""


# LITERALINCLUDE START: FOO_PACKAGE
def _autoload():  # (1)
    print("Check things are working with `torch.foo.is_available()`.")


import torch  # (2)

from torch_foo import foo

torch.utils.rename_privateuse1_backend("foo")  # (3)
torch._register_device_module("foo", foo)
# LITERALINCLUDE END: FOO_PACKAGE
