# A hook that leaves torch usable without a driver; see docs/frontend/autoload.md.
# LITERALINCLUDE START: CAREFUL_PACKAGE
import ctypes
import warnings


def _autoload():
    try:
        ctypes.CDLL("libbroken_driver.so")
    except OSError as error:
        warnings.warn(f"careful_backend has no device: {error}", stacklevel=2)


# LITERALINCLUDE END: CAREFUL_PACKAGE
