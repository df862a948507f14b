# Installs the example backend torch_foo; see docs/frontend/autoload.md.
# LITERALINCLUDE START: FOO_SETUP
from setuptools import setup

setup(
    name="torch_foo",
    version="1.0",
    packages=["torch_foo"],
    entry_points={
        "torch.backends": [
            "torch_foo = torch_foo:_autoload",
        ],
    },
)
# LITERALINCLUDE END: FOO_SETUP
