# Which areas of the kit the tools leave out; see docs/ship/conformance.md.
LONG = {"compiler", "database"}  # of level 5; they take minutes
