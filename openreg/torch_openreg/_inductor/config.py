# What the key of Inductor's cache contains of this backend; see
# docs/modules/compile-wrapper.md.
"""A config module of torch: the cache keeps graphs of other values apart."""

import sys

from torch.utils._config_module import install_config_module

from .version import digest_of_sources

codegen_version: str = digest_of_sources()

install_config_module(sys.modules[__name__])
