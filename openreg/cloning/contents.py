# All files of a copy; see docs/ship/make-it-yours.md.
from __future__ import annotations

from cloning.driver import simulated_driver, skeleton
from cloning.full import full_texts
from cloning.guide import guide
from cloning.spelling import SIMULATED, Spelling
from cloning.stages import FIRST
from cloning.starter import starter_texts


def texts_of(spelling: Spelling, stage: int) -> dict[str, str]:
    """Their paths and texts.

    Args:
        stage: of the ladder. What later stages bring is left out.
    """
    texts = backend_texts(spelling, stage)
    if spelling.driver == SIMULATED:
        texts |= simulated_driver()
    else:
        until = {
            one: code_of(backend_texts(spelling, one))
            for one in range(FIRST - 1, stage)
        }
        texts |= skeleton(spelling, {**until, stage: code_of(texts)})
    return texts | {"CLONING.md": guide(spelling, stage, texts)}


def backend_texts(spelling: Spelling, stage: int) -> dict[str, str]:
    """The files of a copy without its driver and CLONING.md."""
    if stage < FIRST:
        return starter_texts(spelling)
    return full_texts(spelling, stage)


def code_of(texts: dict[str, str]) -> str:
    return "\n".join(text for path, text in texts.items() if path.startswith("csrc/"))
