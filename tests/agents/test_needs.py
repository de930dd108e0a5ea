"""A page is taken apart by what the topic asks for: a figure, a row of a table, a place deep inside
a long page.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from spadework.graph.nodes.distil import WINDOW_TOKENS
from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.values import Result
from tests.world.brain import assessment, play
from tests.world.chat import ChatRequest
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

WALK = (
    "The coast road runs along the old sea wall, and the people who walk it tell of storms and of"
    " calm days in summer. "
)
HEAD = (
    "# Towns of the coast\n\nThe towns of the coast are listed here.\n\n| Town | Inhabitants |"
    " Lighthouse |\n|---|---|---|\n"
)
ROW = "| Port Aldermere | 48,212 | 1887 |\n"
OTHERS = [f"| Town{n} | {n * 7 + 1000:,} | {1800 + n % 80} |\n" for n in range(700)]
SMALL = f"{HEAD}{ROW}{OTHERS[0]}"
LONG_TABLE = f"{HEAD}{''.join(OTHERS[:450])}{ROW}{''.join(OTHERS[450:])}"
DEEP = "\n\n".join(f"## Part {n}\n\n{WALK * 6}" for n in range(60))
CENSUS = (
    f"{DEEP}\n\n## Census\n\nThe census of Port Aldermere counted 48,212 inhabitants in"
    f" 2024.\n\n{DEEP}"
)


async def asked(tmp_path: Path, text: str, question: str) -> Result:
    """The result of a question to a library of one page that answers it, and one that does not."""
    folder = tmp_path / "coast"
    folder.mkdir()
    (folder / "page.md").write_text(text, encoding="utf-8")
    (folder / "other.md").write_text(f"# The coast road\n\n{WALK * 4}\n", encoding="utf-8")
    return await research(
        question, Settings.load(search="library", library=(folder,), iterations=1)
    )


@pytest.mark.parametrize("text", [SMALL, LONG_TABLE], ids=["small", "long"])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many inhabitants does Port Aldermere have?", "48,212"),
        ("When was the lighthouse of Port Aldermere built?", "1887"),
    ],
)
async def test_a_row_of_a_table_answers_without_a_model(
    tmp_path: Path, text: str, question: str, answer: str
) -> None:
    result = await asked(tmp_path, text, question)
    [topic] = result.topics
    row, columns = "| Port Aldermere | 48,212 | 1887 |", "| Town | Inhabitants | Lighthouse |"
    assert {("row", row), ("columns", columns)} <= {(e.kind, e.quote) for e in topic.evidence}
    alone = "Town: Port Aldermere; Inhabitants: 48,212; Lighthouse: 1887."
    among_others = "| Port Aldermere [1] | 48,212 [1] | 1887 [1] |"
    assert alone in result.report or among_others in result.report
    assert answer in result.report
    assert {c.verdict for c in result.citations} == {"supported"}
    stored = [
        (Path(result.session_dir) / "pages" / f"{e.content_hash}.md").read_text()[e.start : e.end]
        == e.quote
        for e in topic.evidence
    ]
    assert all(stored)


async def test_a_row_of_a_table_without_names_of_columns_is_told_by_its_first_cell(
    tmp_path: Path,
) -> None:
    table = (
        "# Port Aldermere\n\nPort Aldermere is a town by the sea.\n\n| | |\n|---|---|\n|"
        " Inhabitants | 48,212 |\n| Mayor | Ines Carrow |\n"
    )
    result = await asked(tmp_path, table, "How many inhabitants does Port Aldermere have?")
    assert "Inhabitants: 48,212." in result.report


@pytest.mark.parametrize(
    "question",
    [
        "How many inhabitants does Port Aldermere have?",
        "When was the census of Port Aldermere counted?",
    ],
)
async def test_what_is_needed_is_found_deep_inside_a_long_page_and_told_in_an_event(
    tmp_path: Path, question: str
) -> None:
    result = await asked(tmp_path, CENSUS, question)
    assert "counted 48,212 inhabitants" in result.report
    events = [
        json.loads(line)
        for line in (Path(result.session_dir) / "events.jsonl").read_text().splitlines()
    ]
    assert [event["need"] for event in events if event["type"] == "distilled"] == ["count"]


async def test_a_model_is_shown_the_rows_of_a_long_table_that_fit_with_the_names_of_the_columns(
    model: Model, world: World, searx: Searx, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    rows = [
        line.strip("| \n").split(" | ")
        for line in LONG_TABLE.partition("|---|---|---|\n")[2].splitlines()
    ]
    cells = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    table = f"<table><tr><th>Town</th><th>Inhabitants</th><th>Lighthouse</th></tr>{cells}</table>"
    body = f"<h1>Towns of the coast</h1><p>{WALK * 3}</p>{table}<p>{WALK * 3}</p>"
    searx.script(
        "", [world.put("blog", "/towns", f"<title>Towns of the coast</title><main>{body}</main>")]
    )
    play(model, {"Inhabitants of Port Aldermere": "How many inhabitants does Port Aldermere have"})

    def assess(request: ChatRequest) -> dict[str, object]:
        shown = "Port Aldermere | 48,212 | 1887" in request.prompt.partition("Passages:")[2]
        return assessment(
            ["| Port Aldermere | 48,212 | 1887 |"] if shown else [],
            gap="" if shown else "the number",
        )

    model.script("AssessmentAnswer", assess)
    monkeypatch.setitem(WINDOW_TOKENS, "normal", 3_000)
    result = await research(
        "How many inhabitants does Port Aldermere have?", Settings.load(iterations=1)
    )
    [request] = [r for r in model.requests if r.schema_name == "AssessmentAnswer"]
    assert "rows under | Town | Inhabitants | Lighthouse |" in request.prompt
    assert result.topics[0].covered
    assert len(request.prompt) < 20_000
    assert [e.quote for e in result.topics[0].evidence] == [
        "| Town | Inhabitants | Lighthouse |",
        "| Port Aldermere | 48,212 | 1887 |",
    ]
