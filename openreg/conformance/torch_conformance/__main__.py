# Runs the conformance kit as a command; see docs/ship/conformance.md.
"""``python -m torch_conformance --device acme [--level 0..5]``."""

import sys

from torch_conformance import main

sys.exit(main())
