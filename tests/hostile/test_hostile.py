"""A few hostile runs of fixed seeds: in time, with a report or a reason, and nothing left. Two
hundred are `python benchmarks/hostile.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.__main__ import IMPOSSIBLE
from tests.hostile.attack import Attack, attack
from tests.hostile.happening import happened
from tests.hostile.running import ROOT

pytestmark = pytest.mark.process

#: Seeds whose attacks are short and unlike each other, and some more.
SEEDS = (3, 40)
MORE = (19, 58, *range(1000, 1012))


@pytest.mark.timed
@pytest.mark.parametrize("seed", [*SEEDS, *(pytest.param(n, marks=pytest.mark.full) for n in MORE)])
def test_a_hostile_run_ends_in_time_and_leaves_nothing(seed: int):
    # In a process of its own, since it may need a network and mounts of its own.
    command = [sys.executable, "-m", "tests.hostile", str(seed)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode == IMPOSSIBLE:
        pytest.skip(done.stdout)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


@pytest.mark.timed
def test_without_any_fault_the_question_is_answered(tmp_path: Path):
    run = happened(Attack(0, 60.0, True, False, "quick", "searxng", "json"))
    assert not run.wrong
    said = json.loads(run.ran.out)
    assert said["status"] == "completed" and said["citations"]
    assert all("is not a public address" in problem["reason"] for problem in said["problems"])
    assert {name for name, did in run.ran.did.items() if did["honest"]} >= {"search", "model"}


#: A program that follows whatever is found, and leaves behind what it has begun.
_BAD = """
import json, os, subprocess, sys, tempfile, urllib.request
tempfile.mkstemp()
kept = {"HOME": os.environ["HOME"]}
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], env=kept)
found = urllib.request.urlopen(os.environ["SEARXNG_URL"] + "/search?q=ferry&format=json")
for hit in json.load(found)["results"]:
    urllib.request.urlopen(hit["url"])
raise ValueError
"""
WRONG = ("late", "no reason", "Traceback", "the process", "the file tmp/", "a private server")


def test_what_is_wrong_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "spadework").mkdir()
    (tmp_path / "spadework" / "__init__.py").touch()
    (tmp_path / "spadework" / "__main__.py").write_text(_BAD)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    run = happened(Attack(0, -10.0, False, False, "quick", "searxng", "text"))
    told = " ".join(run.wrong)
    assert all(wrong in told for wrong in WRONG), told


#: The same from code, where it is too late before it says why there is no report.
_LATE_FROM_CODE = """
import time
class SpadeworkError(Exception): pass
class Settings:
    load = classmethod(lambda cls: cls())
class Budget:
    seconds = 60.0
    of = classmethod(lambda cls, settings: cls())
    def start(self, at): pass
def research_sync(question, settings, budget):
    time.sleep(0.6)
    raise SpadeworkError("Every search failed.")
"""


def test_a_run_from_code_that_ends_with_a_reason_is_late_when_that_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    web = tmp_path / "spadework" / "tools" / "web"
    web.mkdir(parents=True)
    (tmp_path / "spadework" / "__init__.py").write_text(_LATE_FROM_CODE)
    (web / "connections.py").write_text("RESOLVER = None\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    run = happened(Attack(0, -1.5, False, False, "quick", "searxng", "code"))
    assert run.ran.code == 1
    assert run.ran.err == "spadework: Every search failed.\n"
    assert any("It ended" in wrong for wrong in run.wrong), run.wrong


def test_a_seed_is_an_attack_and_seeds_are_unlike():
    assert [attack(seed) for seed in range(50)] == [attack(seed) for seed in range(50)]
    assert len({str(attack(seed)) for seed in range(50)}) == 50
