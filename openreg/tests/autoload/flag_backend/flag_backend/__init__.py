# The state-flag pattern, without torch; see docs/frontend/autoload.md.
# LITERALINCLUDE START: FLAG_PACKAGE
is_loaded = False


def _autoload():
    if is_loaded:
        return  # flag_backend.torch is imported already, or importing torch right now
    import flag_backend.torch


# LITERALINCLUDE END: FLAG_PACKAGE
