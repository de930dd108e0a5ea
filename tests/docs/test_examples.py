"""Every block of code in the docs is run, or says that it is not, with the reason here."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
#: Example reports quote code of other people; the guide to providers has a test of its own, in
#: which its blocks build on each other.
GUIDES = ROOT / "docs" / "guides"
ELSEWHERE = {*(ROOT / "docs" / "examples").glob("*.md"), GUIDES / "add-search-provider.md"}
FILES = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")} - ELSEWHERE)
#: What most people run; the other pages are tried by `make test-full`.
FIRST = ("README",)
#: Seconds for one block.
PATIENCE = 90
SERVER = "127.0.0.1:8051"

#: Why a block that says `no-run` is not run, by the beginning of its first line.
REASONS = {
    "make run                                    # asks": "makes a venv of its own",
    "make setup    # .venv": "makes a venv of its own, and runs all tests",
    "pip install .": "changes the venv that runs this",
    "spadework replay 20260304": "needs a session of the reader; tests/apps/test_cli.py has one",
    'pip install ".[postgres]"': "needs a database; tests/machines has its own",
    "make setup": "makes a venv of its own; tests/graph/test_server.py starts the server",
    "import asyncio": "needs that server; tests/graph/test_server.py does the same",
    "from collections.abc import AsyncIterator": "tests/docs/test_fastapi.py runs it",
    "npm pack": "needs Node.js and the network",
    "spadework watch": "asks the web; tests/apps/test_watch.py has one of its own",
    "ollama pull": "needs a model; `make test-model` runs one",
    "SPADEWORK_MODEL_SECONDS=900": "needs a model; `make test-model` runs one",
    "export HTTPS_PROXY": "needs a proxy; tests/tools/fetch/test_outbound_proxy.py has one",
    "export SPADEWORK_ALLOW_HOSTS": "would let hosts through in the blocks after it",
    'pip install ".[embeddings]"': (
        "needs a model for embeddings; tests/sessions/test_meaning.py does the same"
    ),
    "spadework serve": "runs until it is stopped; the test starts one",
    "spadework worker": "needs a database; tests/machines/test_worker_ends.py starts some",
    "spadework tokens add --scope admin": (
        "needs a server that has users; tests/apps/people/test_who_asks.py asks one"
    ),
    "printf 'POSTGRES_PASSWORD": "needs Docker; tests/docs/test_compose.py reads its files",
    "docker build": "needs Docker",
    "python3.12 -m venv .venv-aegra": (
        "needs PostgreSQL and Redis; tests/machines/test_aegra.py starts them"
    ),
    "langgraph build": "needs Docker",
}
NOTES = {
    "langgraph.md": (
        "# LangGraph\n\nLangGraph is a library for agents as graphs. To use it, add nodes to a"
        " StateGraph and compile it.\n"
    ),
    "pydantic.md": (
        "# pydantic\n\npydantic is a library that checks data by type hints. It was first released"
        " in 2017.\n"
    ),
    "quillon.md": (
        "# Quillon\n\nQuillon is a wind-up radio that plays for 45 minutes after one winding.\n"
    ),
}


@dataclass(frozen=True)
class Block:
    """A fenced block: where it stands, what language it is in, the words behind that, and its
    text.
    """

    file: Path
    line: int
    language: str
    marks: tuple[str, ...]
    text: str

    @property
    def runs(self) -> bool:
        return "no-run" not in self.marks

    def __str__(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}"


def blocks(file: Path) -> list[Block]:
    fences = [
        token for token in MarkdownIt("commonmark").parse(file.read_text()) if token.type == "fence"
    ]
    made = []
    for fence in fences:
        language, *marks = fence.info.split() or [""]
        made.append(Block(file, (fence.map or [0])[0] + 1, language, tuple(marks), fence.content))
    return made


ALL = [block for file in FILES for block in blocks(file)]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the notes that are searched where a block names none, and the home in which
    they are indexed once.
    """
    folder = tmp_path_factory.mktemp("docs")
    (folder / "notes").mkdir()
    for name, text in NOTES.items():
        (folder / "notes" / name).write_text(text)
    return folder


def environment(shared: Path, folder: Path) -> dict[str, str]:
    """Nobody's keys; a home in `folder`, with `~/notes`; spadework on the path."""
    env = {
        name: value
        for name, value in os.environ.items()
        if name in ("PATH", "LANG", "LC_ALL", "TMPDIR")
    }
    env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
    (folder / "notes").symlink_to(shared / "notes")
    env |= {"HOME": str(folder), "SPADEWORK_HOME": str(shared / "home"), "PYTHONPATH": str(ROOT)}
    return env | {
        "SPADEWORK_SEARCH": "library",
        "SPADEWORK_LIBRARY": str(shared / "notes"),
        "SPADEWORK_MINUTES": "1",
    }


@pytest.fixture(scope="module")
def server(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The host and port of `spadework serve`, as the guides start it."""
    folder = tmp_path_factory.mktemp("server")
    # A home of its own: a page that adds users to the shared one would close the door here.
    env = environment(shared, folder) | {"SPADEWORK_HOME": str(folder / "own")}
    command = [sys.executable, "-m", "spadework", "serve", "--port", "0"]
    with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        found = re.search(r"127\.0\.0\.1:\d+", process.stderr.readline())
        assert found, process.stderr.read()
        try:
            yield found[0]
        finally:
            process.terminate()
            process.communicate(timeout=20)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "file",
    [
        pytest.param(file, marks=[pytest.mark.full] * (file.stem not in FIRST))
        for file in FILES
        if any(b.language in ("sh", "python") and b.runs for b in blocks(file))
    ],
    ids=lambda file: str(file.relative_to(ROOT)),
)
def test_the_examples_run_as_they_stand_one_after_the_other(
    file: Path, shared: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    env = environment(shared, tmp_path / "home")
    kept = tmp_path / "exported"
    kept.touch()
    for block in blocks(file):
        if block.language not in ("sh", "python") or not block.runs:
            continue
        text = (
            block.text.replace(SERVER, request.getfixturevalue("server"))
            if SERVER in block.text
            else block.text
        )
        path = tmp_path / f"line-{block.line}.{block.language}"
        path.write_text(
            f"set -euo pipefail\n{text}\nexport -p > {kept}\n" if block.language == "sh" else text
        )
        # A block sees what those before it have exported.
        command = f". {kept} && exec {'bash' if block.language == 'sh' else sys.executable} {path}"
        code, said = ended(command, tmp_path / "work", env)
        assert code == 0, f"{block}\n{said[-3000:]}"


def ended(command: str, folder: Path, env: dict[str, str]) -> tuple[int, str]:
    """The exit code of a command and what it said; after PATIENCE it is ended with all that it
    started.
    """
    with subprocess.Popen(
        ["bash", "-c", command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            said, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            said = f"took longer than {PATIENCE} seconds\n{process.communicate()[0]}"
    return process.returncode, said


def test_what_is_not_run_has_a_reason() -> None:
    skipped = {block.text.splitlines()[0] for block in ALL if not block.runs}
    without = {line for line in skipped if not any(line.startswith(first) for first in REASONS)}
    unused = {first for first in REASONS if not any(line.startswith(first) for line in skipped)}
    assert (without, unused) == (set(), set())


def test_every_block_names_its_language_and_data_can_be_read() -> None:
    for block in ALL:
        assert block.language in (
            "sh",
            "python",
            "json",
            "toml",
            "yaml",
            "mermaid",
            "text",
        ) or file_has_drawing(block), str(block)
        if block.language == "python":
            compile(block.text, str(block), "exec")
        elif block.language == "json":
            json.loads(block.text)
        elif block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "yaml":
            assert yaml.safe_load(block.text)
        elif block.language == "mermaid":
            assert re.match(r"(graph|flowchart|sequenceDiagram|stateDiagram)", block.text), str(
                block
            )


def file_has_drawing(block: Block) -> bool:
    """A drawing in characters has no language."""
    return not block.language and "─" in block.text
