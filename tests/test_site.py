"""Tests of nox_support/site.py: when a page alone is rendered, and when all are."""

import contextlib
from functools import partial

import pytest
from nox_support import environments, site
from recording import RecordingSession, Refused

PAGE = "(target)=\n# Title\n\nProse.\n\n```{note}\n:class: x\n\nProse.\n```\n"
SOURCES = ["docs", "openreg"]


@pytest.fixture
def guide(monkeypatch, tmp_path):
    """A guide of one page, and a file that it shows."""
    for module in (environments, site):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(site, "SITE", tmp_path / "build/site")
    for name, text in [("docs/a/page.md", PAGE), ("openreg/a.py", "x = 1\n")]:
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def sphinx(*command, fails=False):
    site.SITE.mkdir(parents=True, exist_ok=True)
    if fails:
        raise Refused(command)
    return ""


def rendered(guide, fails=False):
    """Render; return whether every page was read."""
    session = RecordingSession(partial(sphinx, fails=fails))
    if fails:
        with pytest.raises(Refused):
            site.render(session, guide, SOURCES)
    else:
        site.render(session, guide, SOURCES)
    (command,) = session.commands
    assert "-W" in command
    return "-E" in command


def change(guide, old, new, name="docs/a/page.md"):
    text = (guide / name).read_text()
    assert old in text
    (guide / name).write_text(text.replace(old, new))


def test_a_page_whose_prose_changed_is_rendered_alone(guide):
    assert rendered(guide)
    change(guide, "Prose.", "Better prose.")
    assert not rendered(guide)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# Title", "# Another"),
        ("(target)=", "(aim)="),
        ("{note}", "{warning}"),
        (":class: x", ":class: y"),
    ],
)
def test_what_other_pages_may_show_renders_all(guide, old, new):
    rendered(guide)
    change(guide, old, new)
    assert rendered(guide)


def test_another_file_renders_all(guide):
    rendered(guide)
    change(guide, "1", "2", "openreg/a.py")
    assert rendered(guide)
    (guide / "docs/b.md").write_text("Prose.\n\n# Title\n")
    assert rendered(guide)
    (guide / "docs/conf.py").write_text("")
    assert rendered(guide)
    assert not rendered(guide)


def test_after_a_failure_every_page_is_read(guide):
    rendered(guide)
    (site.SITE / ".key").write_text("of the sources before")
    change(guide, "Prose.", "Wrong prose.")
    assert not rendered(guide, fails=True)
    assert not (site.SITE / ".key").exists()  # nox -s browser must not take this site
    assert rendered(guide, fails=True)
    assert rendered(guide)
    assert not rendered(guide)


def test_no_page_of_an_earlier_site_survives(guide):
    rendered(guide)
    (site.SITE / "removed.html").write_text("")
    assert not rendered(guide)
    change(guide, "# Title", "# Another")
    rendered(guide)
    assert not (site.SITE / "removed.html").exists()


def test_the_guide_is_there_while_its_examples_run(noxfile, monkeypatch, guide):
    def run_examples(session):
        assert session.said[-1].endswith(f"{site.SITE}/index.html")
        if fails:
            raise Refused("examples")

    for name in ("check_machine", "measure_operators"):
        monkeypatch.setattr(noxfile, name, lambda session: None)
    monkeypatch.setattr(noxfile, "SITE", site.SITE)
    monkeypatch.setattr(noxfile, "SITE_SOURCES", SOURCES)
    monkeypatch.setattr(noxfile, "environment", lambda session, name: guide)
    monkeypatch.setattr(noxfile, "run_changed_pages", run_examples)
    key = site.SITE / ".key"
    for fails in (True, False):
        session = RecordingSession(sphinx)
        with pytest.raises(Refused) if fails else contextlib.nullcontext():
            noxfile.build_site(session)
        assert key.exists() != fails  # nox -s browser must not take a site that fails
