# Runs the diagnosis as a command; see docs/ship/diagnose.md.
"""``python -m torch_openreg_diagnose [--json]``."""

import sys

from torch_openreg_diagnose import main

sys.exit(main())
