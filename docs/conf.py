# Settings of the guide's Sphinx site; its front page is docs/index.md.
"""Build with ``sphinx-build -W -n -E --keep-going -b html docs build/site``.

Nothing here may make a page ask another machine for anything: the site must read and
search from ``file://``.
"""

import sys
from pathlib import Path
from urllib.parse import urlsplit

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

from region_coverage import lines_never_run  # noqa: E402  (found through the line above)
from site_facts import read_facts  # noqa: E402

facts = read_facts(DOCS.parent)

# -- The project -----------------------------------------------------------------------

project = "OpenReg"
author = "The OpenReg authors"
copyright = author
version = release = facts.version

# -- What is read ----------------------------------------------------------------------

extensions = [
    "driver_reference",
    "gaps_table",
    "measured_table",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "operator_coverage",
    "python_reference",
    "snippet_contract",
    "site_api_links",
    "site_callouts",
    "site_diagram",
    "site_glossary",
    "site_llms",
    "site_reading_time",
    "site_redirects",
    "site_search",
    "site_sidebar",
    "site_sitemap",
    "site_snippet_length",
    "site_tables",
    "site_whole_files",
    "table_of",
    "trace_picture",
]
# tests/test_page_order.py lists the tables that the sidebar leaves out.
suppress_warnings = ["toc.not_included"]
exclude_patterns = ["_ext", "_static", "_templates", "_tests"]
templates_path = ["_templates"]

highlight_language = "none"  # a block says its language or gets no colors
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist"]
myst_enable_extensions += ["substitution"]
myst_substitutions = {
    "lines_never_run": lines_never_run(),
    "python_version": f"{sys.version_info.major}.{sys.version_info.minor}",
    "torch_version": facts.torch_version,
    "version": facts.version,
}
myst_heading_anchors = 3

# The references name types of Python, torch and C, which have no pages here.
nitpick_ignore_regex = [
    ("py:(class|exc|obj)", r"(?!torch\.openreg\.).*"),
    ("c:identifier", r"u?int\d+_t|size_t|or[A-Z][a-zA-Z]+|occlComm"),
]
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True

# A code block is copied without its prompts, its output and its callout numbers.
copybutton_prompt_text = r">>> |\.\.\.(?: |$)|\$ |>(?: |$)"
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"
copybutton_exclude = ".linenos, .callout"

# -- Addresses -------------------------------------------------------------------------

html_baseurl = facts.site_url
site_llms_summary = (
    "A guide to integrating an accelerator into PyTorch through the PrivateUse1 "
    "dispatch key. Its code is cut from a backend that runs on a simulated device."
)

# -- How long a page takes -------------------------------------------------------------

# Pages of more than ten minutes, to be split; the list may only become shorter.
site_long_pages: list[str] = []

# -- How long a snippet is -------------------------------------------------------------

# Pages with code of more than 25 lines, or with more than 12 and neither callouts nor
# emphasis. There are none, and the list must stay empty.
site_long_snippets: list[str] = []

# -- How it looks ----------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "OpenReg"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css", "sidebar.css", "tables.css", "search/search.css"]
html_js_files = [(name, {"defer": "defer"}) for name in ("site.js", "search/search.js")]
html_copy_source = False  # readers get the Markdown that site_llms writes
html_show_sphinx = False
html_additional_pages = {"404": "404.html"}
html_use_index = False  # an index would be empty; search finds the symbols
html_sidebars = {"**": ["site-nav"]}
html_context = {
    "default_mode": "auto",
    "site_torch_version": facts.torch_version,
    "edit_page_url_template": "{{ site_repository }}/edit/main/docs/{{ file_name }}",
    "edit_page_provider_name": "GitHub" if "//github.com/" in facts.repository else "",
    "site_repository": facts.repository,
    "site_root_path": urlsplit(facts.site_url).path or "/",  # for 404.html
}
html_theme_options = {
    "logo": {"text": "OpenReg"},
    "navbar_start": ["navbar-logo", "site-version"],
    "navbar_center": [],
    "navbar_end": ["theme-switcher", "site-source"],
    "navbar_persistent": ["search-button-field"],
    "search_bar_text": "Search the guide",
    "secondary_sidebar_items": ["page-toc", "edit-this-page", "page-markdown"],
    "use_edit_page_button": True,
    "footer_start": ["copyright"],
    "footer_end": ["site-version"],
    "pygments_light_style": "github-light-high-contrast",
    "pygments_dark_style": "github-dark-high-contrast",
    "show_toc_level": 2,
    "navigation_with_keys": False,
}
