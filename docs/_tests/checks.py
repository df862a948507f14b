# What a page of the guide must not do; each check returns the faults it found.
"""The checks know nothing of the guide, so that test_planted_faults.py can show each of
them a page with the fault in it: a check that cannot fail proves nothing.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, field

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import ConsoleMessage, Page, Request

AXE = Axe().axe_script
WCAG_AA = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]

# Text that is wider than its heading or paragraph is cut off, or lies over other text.
CUT_OFF = """() => [...document.querySelectorAll("h1, h2, h3, p")]
  .filter((element) => element.scrollWidth > element.clientWidth + 1)
  .filter((element) => element.clientWidth > 0)
  .map((element) => `"${element.textContent.trim().slice(0, 60)}" needs ` +
    `${element.scrollWidth} of ${element.clientWidth} px`)"""

# Lists what reaches past the right edge and is not inside a box that scrolls.
TOO_WIDE = """() => {
  const edge = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= edge) return [];
  const scrolls = (element) => {
    for (let box = element.parentElement; box; box = box.parentElement)
      if (getComputedStyle(box).overflowX !== "visible" && box !== document.body)
        return true;
    return false;
  };
  const wide = [...document.body.querySelectorAll("*")].filter(
    (element) => element.getBoundingClientRect().right > edge + 1 && !scrolls(element));
  return wide.map((element) =>
    `<${element.tagName.toLowerCase()} class="${element.className}"> reaches ` +
    `${Math.round(element.getBoundingClientRect().right)} of ${edge} px`);
}"""

# A tab of sphinx-design is an input without size: its label shows the focus.
FOCUSED = """() => {
  const focused = document.activeElement;
  const shown = focused.matches(".sd-tab-set > input")
    ? document.querySelector(`label[for="${focused.id}"]`) : focused;
  const style = getComputedStyle(shown);
  const outline = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  return [focused.outerHTML.slice(0, 120), outline];
}"""

PROMPT = re.compile(r">>> |\.\.\.(?: |$)|\$ |>(?: |$)")
# Presses the copy button of each block; returns what the block shows, and the copy.
COPY_ALL = """async () => {
  const blocks = [];
  for (const pre of document.querySelectorAll("div.highlight pre")) {
    const shown = pre.cloneNode(true);
    shown.querySelectorAll(".callout, .linenos").forEach((node) => node.remove());
    const session = pre.closest(".highlight-pycon, .highlight-console") !== null;
    const button = pre.parentElement.querySelector("button.copybtn");
    await navigator.clipboard.writeText("nothing was copied");
    button?.click();
    const copied = await navigator.clipboard.readText();
    blocks.push([session, shown.textContent, button && copied]);
  }
  return blocks;
}"""

# A page has a thousand texts in sixty looks, most of which other pages also have, and
# axe takes milliseconds to find the contrast of one. Marks the first text of each look
# that is not in `known`: the same colors and fonts, up to the root of the page.
MARK_LOOKS = """({known, numbers}) => {
  const names = new Map();
  const look = (element) => {
    if (!element) return 0;
    if (!names.has(element)) {
      const {color, backgroundColor, backgroundImage, opacity, fontSize, fontWeight,
             textShadow} = getComputedStyle(element);
      const name = [look(element.parentElement), color, backgroundColor,
        backgroundImage, opacity, fontSize, fontWeight, textShadow].join();
      numbers[name] ??= Object.keys(numbers).length + 1;
      names.set(element, numbers[name]);
    }
    return names.get(element);
  };
  const seen = new Set(known);
  for (const element of document.body.querySelectorAll("*")) {
    const text = element.matches("input, select, textarea") ||
      [...element.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    if (!text || !element.checkVisibility({visibilityProperty: true})) continue;
    if (!seen.has(look(element))) element.dataset.look = "";
    seen.add(look(element));
  }
  return {known: [...seen], numbers};
}"""


@dataclass
class Looks:
    """The looks of texts whose contrast was found, on all pages of a tab."""

    known: list[int] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)  # of a look's styles


@dataclass
class Watch:
    """What a page did while it was watched."""

    outside: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def forget(self) -> None:
        """Begin again, as for the next page of a tab."""
        self.outside.clear()
        self.errors.clear()


def watch(page: Page, origin: str) -> Watch:
    """Record errors, and requests that leave ``origin``, from now on.

    No route sees the requests: it would turn the browser's cache off. The browser
    itself cannot reach another host (``browsing.CHROMIUM_FLAGS``).
    """
    seen = Watch()

    def on_request(request: Request) -> None:
        if not request.url.startswith((origin, "data:", "blob:")):
            seen.outside.append(f"{request.resource_type}: {request.url}")

    def on_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            seen.errors.append(f"console {message.type}: {message.text}")

    page.on("request", on_request)
    page.on("console", on_console)
    page.on("pageerror", lambda error: seen.errors.append(f"uncaught: {error}"))
    return seen


def sideways_scroll(page: Page) -> list[str]:
    """List the elements that make the page scroll sideways, and what is cut off."""
    faults = page.evaluate(TOO_WIDE) + page.evaluate(CUT_OFF)
    width = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    if width > 0 and not faults:
        faults = [f"the page is {width} px wider than the window"]
    return faults


def accessibility_faults(page: Page, looks: Looks | None = None) -> list[str]:
    """Run axe (WCAG 2.1, levels A and AA) and describe each violation.

    Args:
        looks: of pages in the same color mode, whose texts need no second check of
            their contrast; those of this page are added.
    """
    looks = looks or Looks()
    options = {
        "runOnly": {"type": "tag", "values": WCAG_AA},
        "resultTypes": ["violations"],
        "preload": False,  # fetches style sheets again, for rules that are not run
    }
    marked = page.evaluate(MARK_LOOKS, asdict(looks))
    looks.known, looks.numbers = marked["known"], marked["numbers"]
    page.evaluate(f"() => {{ {AXE} }}")
    page.evaluate(
        "axe.configure({rules: [{id: 'color-contrast', selector: '[data-look]'}]})"
    )
    # Axe.run also transfers what axe found to be right, which takes as long as axe.
    run = "options => axe.run(document, options).then(({violations}) => violations)"
    violations = page.evaluate(run, options)
    return [
        f"{violation['id']}: {node['html'][:160]}\n    {node['failureSummary']}"
        for violation in violations
        for node in violation["nodes"]
    ]


def hidden_focus(page: Page, steps: int) -> list[str]:
    """Press Tab ``steps`` times; list the elements whose focus cannot be seen."""
    faults = []
    for _ in range(steps):
        page.keyboard.press("Tab")
        element, visible = page.evaluate(FOCUSED)
        if not visible:
            faults.append(f"focus cannot be seen on {element}")
    return faults


def copy_faults(page: Page) -> list[str]:
    """Press each copy button; list the blocks that it copies wrongly, or has none.

    Prompts, output and callouts are left out.
    """
    blocks = page.evaluate(COPY_ALL)
    buttons = page.locator("button.copybtn").count()
    faults = []
    if buttons != len(blocks):
        faults.append(f"{buttons} buttons, {len(blocks)} blocks")
    for number, (session, shown, copied) in enumerate(blocks):
        wanted = _input_of(shown) if session else _lines(shown)
        if copied is None:
            faults.append(f"block {number} has no copy button")
        elif _lines(copied) != wanted:
            faults.append(f"block {number}: copied {copied!r}, not {wanted}")
    return faults


def _input_of(session: str) -> list[str]:
    """Return what a reader wants of a session: the lines behind its prompts."""
    lines = (line for line in session.splitlines() if PROMPT.match(line))
    return _lines("\n".join(PROMPT.sub("", line, count=1) for line in lines))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines() if line.strip()]
