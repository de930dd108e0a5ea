"""What a server logs holds no command to a terminal."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

PROGRAM = r"""
import logging
from spadework.apps.messages import log_to_stderr
log_to_stderr()
logging.getLogger("a").info("unsaid")
try:
    raise ValueError("a title \x1b]52;c;QQ==\x07 \x9b2J \u202e")
except ValueError:
    logging.getLogger("a").exception("It broke: %s", "\x1b[2J")
"""


def test_a_log_line_and_its_traceback_are_visible_text() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    first, *_, last = done.stderr.splitlines()
    assert first == "ERROR: It broke: [2J"
    assert last == "ValueError: a title ]52;c;QQ== 2J "
    assert done.stdout == ""
