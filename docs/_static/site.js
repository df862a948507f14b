// Small corrections of the theme's behavior; loaded by every page, see docs/conf.py.

// A page read from file:// may not fetch its neighbors, so search lists titles only.
if (location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}
