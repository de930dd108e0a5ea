"""Texts are ranked the same in every process, though the order of a set is another one in each."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from spadework.tools.ranking.relevance import Bm25

PROGRAM = """
from spadework.tools.ranking.relevance import Bm25
words = "harbour pilot lantern granite ferry kestrel orchard bellows copper thistle anchor meadow saddle willow ember quarry".split()
texts = [" ".join(words[n:] + words[: n // 3] + ["mill"] * n) for n in range(len(words))]
print(Bm25(texts).scores(" ".join(words + words[::-1])))
"""  # noqa: E501


@pytest.mark.process
def test_the_scores_of_texts_do_not_depend_on_the_order_of_sets() -> None:
    said = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(said) == 1


def test_each_text_and_the_query_are_read_in_the_language_of_the_text() -> None:
    texts = ["Die Häuser der Stadt", "Der Himmel über der Stadt", "The house", "東京の天気"]
    index = Bm25(texts, ["de", "de", "en", "ja"])
    assert [score > 0 for score in index.scores("Welches Haus?")] == [True, False, False, False]
    assert [score > 0 for score in index.scores("houses")] == [False, False, True, False]
    assert [score > 0 for score in index.scores("今日の天気は")] == [False, False, False, True]
    assert index.scores("die der the") == [0, 0, 0, 0]
