# The package that Triton's entry point names; see docs/modules/triton.md.
"""A Triton backend for the simulated device OpenReg.

Triton imports the modules ``compiler`` and ``driver`` itself. Import ``triton`` first:
its import of a half-imported backend finds no classes.
"""
