// Small additions to the theme; loaded by every page, see docs/conf.py.
