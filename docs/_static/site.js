// Small corrections of the theme's behaviour; loaded by every page, see docs/conf.py.

// A page read from file:// may not fetch its neighbours, so search lists titles only.
if (location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}
