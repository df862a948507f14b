# How long a test waits before it says that something hangs; see CONTRIBUTING.md.
# A busy machine can be many times slower than an idle one, and a hang costs this time
# only once: so it is long, and the same everywhere.
PATIENCE = 300  # seconds
