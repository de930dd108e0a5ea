"""The pages that runs have read, from the command line: listed, exported, forgotten; and what says
that they are there.
"""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from spadework.apps.cli import app, with_default_command
from spadework.errors import KnowledgeError, SettingsError
from spadework.settings import Settings
from spadework.tools.knowledge import Entry, knowledge_of
from tests.tools.knowledge.pages import ALL, CENSUS, FERRY, HARBOUR

YAML_HEAD = "---\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    store = knowledge_of(Settings.load(home=folder))
    assert store
    asyncio.run(store.add(ALL))
    return folder


def run(*arguments: str) -> tuple[str, str]:
    done = CliRunner().invoke(app, list(arguments))
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.stdout, done.stderr


def test_pages_are_listed_a_line_each(home: Path) -> None:
    out, err = run("knowledge")
    assert [line.split()[2] for line in out.splitlines()] == [one.page.url for one in ALL]
    assert err == f"3 pages in the knowledge store in {home / 'knowledge'}.\n"
    out, err = run("knowledge", "list", "ferry.example", "--json")
    assert json.loads(out)["title"] == FERRY.page.title
    assert err.startswith("1 page in")


def test_pages_are_exported_as_files_that_people_and_programs_can_read(
    home: Path, tmp_path: Path
) -> None:
    run("knowledge", "export", "-o", str(tmp_path / "out"))
    texts = {path.name: path.read_text() for path in (tmp_path / "out").iterdir()}
    [census] = [text for name, text in texts.items() if name.startswith("news.example.org-census-")]
    assert len(texts) == 3
    assert f'url: "{CENSUS.page.url}"' in census
    assert census.endswith(f"{CENSUS.text}\n")
    run("knowledge", "export", "example.org", "-o", str(tmp_path / "out.jsonl"))
    lines = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert {line["url"]: line["markdown"] for line in lines} == {
        one.page.url: one.text for one in (CENSUS, HARBOUR)
    }


def test_what_is_forgotten_is_said(home: Path) -> None:
    assert run("knowledge", "forget", FERRY.page.url)[1] == "Forgot 1 page.\n"
    assert run("knowledge", "forget", "nobody.example")[1] == "Forgot 0 pages.\n"
    assert run("knowledge", "forget", "--older", "100000")[1] == "Forgot 0 pages.\n"
    assert run("knowledge", "forget", "--all")[1] == "Forgot 2 pages.\n"
    assert run("knowledge", "list")[0] == ""


@pytest.mark.parametrize("arguments", [(), ("--all", "a.example"), ("--all", "--older", "3")])
def test_to_forget_without_saying_what_is_refused(home: Path, arguments: tuple[str, ...]) -> None:
    with pytest.raises(SettingsError):
        run("knowledge", "forget", *arguments)
    assert len(run("knowledge")[0].splitlines()) == 3


def test_an_export_to_another_kind_of_file_is_refused(home: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="Name a folder or a"):
        run("knowledge", "export", "-o", str(tmp_path / "out.xml"))


def test_the_store_can_be_looked_at_and_emptied_while_runs_do_not_use_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPADEWORK_KNOWLEDGE", "false")
    assert len(run("knowledge")[0].splitlines()) == 3
    assert "the knowledge store is off" in run("doctor", "--search", "duckduckgo")[0]


def test_doctor_says_how_much_is_known(home: Path) -> None:
    assert (
        f"ok    3 pages in the knowledge store in {home / 'knowledge'}"
        in run("doctor", "--search", "duckduckgo")[0]
    )


def test_doctor_says_what_is_wrong_with_it(home: Path) -> None:
    (home / "knowledge" / "pages.sqlite").write_bytes(b"no database" * 500)
    assert "wrong The knowledge store in" in run("doctor", "--search", "duckduckgo")[0]
    with pytest.raises(KnowledgeError):
        run("knowledge")


def test_who_deletes_a_session_is_told_of_the_pages_that_stay(home: Path) -> None:
    (home / "sessions" / "one").mkdir(parents=True)
    (home / "sessions" / "one" / "session_metadata.json").write_text("{}")
    assert "To remove them, run `spadework knowledge forget`" in run("sessions", "delete", "one")[1]


def test_knowledge_is_a_command_and_no_question() -> None:
    assert with_default_command(["knowledge", "list"]) == ["knowledge", "list"]


def test_names_of_exported_files_never_collide(home: Path, tmp_path: Path) -> None:
    store = knowledge_of(Settings.load(home=home))
    assert store
    pages = [
        CENSUS.page.model_copy(
            update={"url": f"https://x.example/{'a' * 200}{n}", "content_hash": f"{n // 2}" * 64}
        )
        for n in range(4)
    ]
    asyncio.run(
        store.add(
            [
                Entry(page.model_copy(update={"fetched_at": datetime.now(UTC)}), f"{n}")
                for n, page in enumerate(pages)
            ]
        )
    )
    run("knowledge", "export", "x.example", "-o", str(tmp_path / "out"))
    assert len(list((tmp_path / "out").iterdir())) == 4


@pytest.mark.parametrize("days", ["1000000", "1e12", "inf"])
def test_an_age_that_no_page_can_have_is_refused(home: Path, days: str) -> None:
    with pytest.raises(SettingsError, match="--older must be"):
        run("knowledge", "forget", "--older", days)
