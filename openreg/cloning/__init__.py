# The parts of new_backend.py; see docs/ship/make-it-yours.md.
