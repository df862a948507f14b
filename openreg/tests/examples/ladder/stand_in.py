# Stands in for _C while there is no C++; see docs/start/ladder.md.


# LITERALINCLUDE START: LADDER_STAND_IN
def _initialize() -> None: ...


def _is_initialized() -> bool:
    return False


def _device_count() -> int:
    return 0


# LITERALINCLUDE END: LADDER_STAND_IN
