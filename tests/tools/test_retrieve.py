"""Texts are ranked the same in every process, though the order of a set is another one in each."""

from __future__ import annotations

import os
import subprocess
import sys

PROGRAM = """
from spadework.tools.retrieve import Bm25
words = "harbour pilot lantern granite ferry kestrel orchard bellows copper thistle anchor meadow saddle willow ember quarry".split()
texts = [" ".join(words[n:] + words[: n // 3] + ["mill"] * n) for n in range(len(words))]
print(Bm25(texts).scores(" ".join(words + words[::-1])))
"""  # noqa: E501


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
