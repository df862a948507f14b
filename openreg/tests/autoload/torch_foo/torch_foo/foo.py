# The module torch.foo of the example backend; see docs/frontend/autoload.md.
# LITERALINCLUDE START: FOO_MODULE
def is_available():
    return True


# LITERALINCLUDE END: FOO_MODULE
