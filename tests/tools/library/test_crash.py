"""A build that is killed: the index is never damaged, at most the last commit is lost, and the next
build goes on.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from filelock import FileLock

from spadework.errors import SettingsError
from spadework.tools.library import build, library as builder
from spadework.tools.library.build import StoreWriter
from spadework.tools.library.document import Document, cut_document
from spadework.tools.library.library import Library, plan
from spadework.tools.library.search import Searcher

pytestmark = pytest.mark.process

EACH = 25  # documents in a commit

#: Writes documents for ever, or as far as it is told and then nothing more, and says after each
#: commit how many there are.
_WRITES = f"""
import signal, sys
from pathlib import Path
from tests.tools.library.test_crash import document
from spadework.tools.library.document import cut_document
from spadework.tools.library.build import StoreWriter
store = StoreWriter(Path(sys.argv[1]))
print("open", flush=True)
for n in range(int(sys.argv[2]), 100_000):
    if n % 3 == 2:
        store.forget(document(n - 1).url)
    store.add(cut_document(document(n)))
    if n % {EACH} == {EACH} - 1:
        store.commit()
        print(n + 1, flush=True)
        if n + 1 == int(sys.argv[3]):
            signal.pause()
"""


def document(n: int) -> Document:
    return Document(
        f"library://notes/{n}.md",
        f"Note {n}",
        f"# Note {n}\n\nThe pot numbered{n} is warm. " + f"Soup{n % 7} " * 200,
    )


def killed_while_writing(
    folder: Path, first: int, commits: int, seconds: float, *, last: int = 0
) -> int:
    """How many documents a process had committed when it was killed, some time after so many
    commits. It writes none after the `last`.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITES, str(folder), str(first), str(last)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    said = [process.stdout.readline() for _ in range(1 + commits)]
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    rest = process.stdout.read().split()
    process.wait()
    process.stdout.close()
    assert process.returncode == -signal.SIGKILL
    numbers = [int(line) for line in [*said, *rest] if line.strip().isdecimal()]
    return numbers[-1] if numbers else first


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed", [1, pytest.param(2, marks=pytest.mark.full), pytest.param(3, marks=pytest.mark.full)]
)
def test_a_killed_writer_loses_at_most_what_it_had_not_committed(tmp_path, seed):
    """Killed several times at random moments, it goes on each time; then everything is there, once,
    and what was removed is not.
    """
    chance, folder, first = random.Random(seed), tmp_path / "built", 0
    for _ in range(3):
        committed = killed_while_writing(
            folder, first, chance.randint(0, 3), chance.uniform(0, 0.2)
        )
        with sqlite3.connect(folder / "documents.db") as db:
            kept = [
                int(url.rpartition("/")[2][:-3])
                for (url,) in db.execute("select url from documents order by id")
            ]
        db.close()
        stored = max(kept, default=-1) + 1
        assert committed <= stored <= committed + EACH
        assert stored % EACH == 0
        first = stored
    with StoreWriter(folder) as store:
        for n in range(first, first + 5):
            store.add(cut_document(document(n)))
    searcher = Searcher(folder)
    expected = {n for n in range(first + 5) if n % 3 != 1 or n + 1 >= first}
    assert searcher.store.count() == len(expected)
    for n in {
        0,
        1,
        2,
        first - 1,
        first,
        first + 4,
        *chance.sample(sorted(expected), min(10, len(expected))),
    }:
        found = [each.document.url for each in searcher.search(f"numbered{n}", 3)]
        assert found == ([f"library://notes/{n}.md"] if n in expected else [])
    assert searcher.passages == len(expected)
    searcher.store.close()


def test_what_the_tables_hold_and_the_index_lost_is_indexed_again_without_reading(tmp_path):
    with StoreWriter(tmp_path) as store:
        for n in range(4):
            store.add(cut_document(document(n)))
    with sqlite3.connect(
        tmp_path / "documents.db"
    ) as db:  # as a kill leaves it between the two commits
        db.execute("update state set indexed = 0")
        db.execute("insert into removed select id, 1 from documents where title = 'Note 3'")
        db.execute("delete from documents where title = 'Note 3'")
    db.close()
    StoreWriter(tmp_path).__exit__(None, None, None)
    searcher = Searcher(tmp_path)
    assert (searcher.store.count(), searcher.passages) == (3, 3)
    assert [each.document.url for each in searcher.search("numbered2", 5)] == [
        "library://notes/2.md"
    ]
    assert searcher.search("numbered3", 5) == []
    searcher.store.close()


def test_what_is_removed_first_stays_removed_where_a_merge_was_cut_off(tmp_path):
    """The eighth commit starts a merge, and the kill ends it; the next writer begins with a
    removal, and merges before it commits.
    """
    assert killed_while_writing(tmp_path, 0, 8, 0, last=8 * EACH) == 8 * EACH
    with sqlite3.connect(
        tmp_path / "documents.db"
    ) as db:  # as a later kill leaves it between the two commits
        db.execute("insert into removed select id, 9 from documents where title = 'Note 199'")
        db.execute("delete from documents where title = 'Note 199'")
        db.execute("update documents set batch = 9 where title = 'Note 0'")
    db.close()
    StoreWriter(tmp_path).__exit__(None, None, None)
    searcher = Searcher(tmp_path)
    assert searcher.passages == searcher.store.count() == 8 * EACH - 66 - 1
    assert searcher.search("numbered199", 5) == []
    searcher.store.close()


async def test_a_killed_build_is_gone_on_with_and_reads_only_what_is_missing(tmp_path, monkeypatch):
    notes, home = tmp_path / "notes", tmp_path / "home"
    notes.mkdir()
    for n in range(30):
        (notes / f"{n}.md").write_text(document(n).markdown)
    wanted = plan([notes], home)
    wanted.shelf.mkdir(parents=True)
    given = json.dumps(
        {
            "paths": [str(notes)],
            "shelf": str(wanted.shelf),
            "family": wanted.family,
            "state": wanted.state,
            "words": "",
        }
    )
    command = (
        "import sys; from spadework.tools.library import build;"
        " build.COMMIT_PASSAGES = 5; sys.exit(build.main())"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin and process.stdout
    process.stdin.write(given.encode())
    process.stdin.close()
    async with asyncio.timeout(60):
        async for line in process.stdout:
            if json.loads(line).get("done", 0) >= 12:
                os.killpg(process.pid, signal.SIGKILL)
                break
        await process.wait()
    assert not wanted.folder.exists()
    said: list[str] = []
    library = await Library.open([notes], home=home, progress=said.append)
    assert library.documents == 30
    left = int(said[-1].split(" of ")[-1].split()[0])
    assert 0 < left <= 30 - 10
    assert [hit.url for hit in await library.search("numbered0", limit=3)] == [
        "library://notes/0.md"
    ]
    await library.close()


async def test_a_build_that_is_killed_alone_is_told_at_once_and_leaves_no_worker(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(builder, "PAUSE_SECONDS", 0.0)
    (tmp_path / "notes").mkdir()
    for n in range(40):
        (tmp_path / "notes" / f"{n}.html").write_text(f"<p>{document(n).markdown * 20}</p>")
    before = set(psutil.Process().children(recursive=True))
    started: set[psutil.Process] = set()

    def kill(text: str) -> None:
        if ": 0 of" in text or started:
            return
        started.update(set(psutil.Process().children(recursive=True)) - before)
        for process in started:
            if "spadework.tools.library.build" in process.cmdline():
                process.kill()

    async with asyncio.timeout(60):
        with pytest.raises(SettingsError, match="its process was killed"):
            await Library.open([tmp_path / "notes"], home=tmp_path / "home", progress=kill)
    assert len(started) > 1
    assert not psutil.wait_procs(started, 10)[1]


@pytest.mark.parametrize("name", ["index/meta.json", "documents.db"])
async def test_a_damaged_index_is_no_ground_for_the_next_one(tmp_path, name):
    notes, home = tmp_path / "notes", tmp_path / "home"
    notes.mkdir()
    (notes / "tea.md").write_text("# Tea\n\nTea is hot.\n")
    await (await Library.open([notes], home=home)).close()
    (plan([notes], home).folder / name).write_text("{" * 5_000)
    (notes / "soup.md").write_text("# Soup\n\nSoup is warm.\n")
    library = await Library.open([notes], home=home)
    assert library.documents == 2
    await library.close()


async def test_one_builds_and_the_other_waits_and_says_so(tmp_path):
    notes, home = tmp_path / "notes", tmp_path / "home"
    notes.mkdir()
    (notes / "tea.md").write_text("# Tea\n\nTea is hot.\n")
    wanted = plan([notes], home)
    wanted.shelf.mkdir(parents=True)
    lock, said, heard = (
        FileLock(wanted.shelf / f".{wanted.family}.lock", thread_local=False),
        list[str](),
        asyncio.Event(),
    )

    def hear(text: str) -> None:
        said.append(text)
        heard.set()

    with lock:
        opening = asyncio.create_task(Library.open([notes], home=home, progress=hear))
        await asyncio.wait_for(heard.wait(), 60)
    library = await opening
    assert said[0] == "Waiting for another process that is building the index of the library."
    assert library.documents == 1
    await library.close()


def test_who_waits_too_long_gets_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "notes").mkdir()
    wanted = plan([tmp_path / "notes"], tmp_path / "home")
    wanted.shelf.mkdir(parents=True)
    monkeypatch.setattr(build, "WAIT_SECONDS", 0.1)
    with (
        FileLock(wanted.shelf / f".{wanted.family}.lock"),
        pytest.raises(SettingsError, match=r"has been building this library.* 0\.1 s"),
    ):
        build.build(wanted)
