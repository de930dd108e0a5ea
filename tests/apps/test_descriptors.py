"""A command may open as many files and connections as the system allows."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.process

resource = pytest.importorskip("resource")

CODE = """
import resource, sys
soft, hard = map(int, sys.argv[1:3])
resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
sys.argv = ["spadework", "--version"]
from spadework.apps.cli import main
try:
    main()
except SystemExit:
    pass
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(("soft", "hard"), [(64, 512), (512, 512)])
def test_the_limit_is_raised_as_far_as_it_may_be(soft: int, hard: int):
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(soft), str(hard)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == f"{hard} {hard}"
