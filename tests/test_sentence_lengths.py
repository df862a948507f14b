"""Tests of sentence_lengths.py, and what it says of the guide."""

from collections import Counter
from statistics import mean

from sentence_lengths import mean_words, opening, pages, sentences, words

PAGE = """# A title. It is not read.

(target)=
A kernel runs later, because [the launch](page.md#part) returns. `x.add_(y)` waits!

* A short item.
  It goes on.

| a table. | It is not read. |

```{doctest}
>>> print("Not read.")
```
"""


def test_sentences_of_a_page():
    assert sentences(PAGE) == [
        "A kernel runs later, because the launch returns.",
        "Code waits!",
        "A short item.",
        "It goes on.",
    ]
    assert mean_words("One two. One two three four.") == 3
    assert mean_words("| a table. |") == 0
    assert opening("# Title\n\nThis page lists what is there.") == "This page lists"


def test_the_pages_are_prose_and_no_lists_of_facts():
    short = {name: mean_words(text) for name, text in pages().items()}
    # A list of gaps, and entries of a reference, may be terse.
    terse = ("reference/", "ship/known-gaps", "start/ladder", "start/features")
    assert not [
        name
        for name, length in short.items()
        if 0 < length < 10 and not name.startswith(terse)
    ]
    assert mean(words(one) for text in pages().values() for one in sentences(text)) > 13


def test_the_pages_open_in_many_ways():
    openings = Counter(map(opening, pages().values()))
    del openings[""]  # of pages that are tables
    assert max(openings.values()) <= 6, openings.most_common(3)
