# A hook that raises, because the driver is missing; see docs/frontend/autoload.md.
# LITERALINCLUDE START: BROKEN_PACKAGE
import ctypes


def _autoload():
    ctypes.CDLL("libbroken_driver.so")


# LITERALINCLUDE END: BROKEN_PACKAGE
