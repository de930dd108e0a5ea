"""Writers that lie, by thirty lies each: with an honest judge none ships, a judge that lies as well
fails its examination, and a figure, date or name that stands in no page is noted.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from spadework.agents.report.checks import Known, find_unfounded
from spadework.agents.report.material import Material
from spadework.graph.nodes.verify import Check, verify_sections
from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.values import Evidence, Plan, Section, Sentence, Topic
from tests.world.brain import evidence as shown, play, written
from tests.world.chat import ChatRequest
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World
from tests.world.verdicts import in_examination, told, verdicts as honest

RUNS = 30
PAGE = (
    "The census of Port Aldermere counted 48,212 inhabitants in 2024. Jory Penhallow lit the"
    " lighthouse in 1887. The harbour bridge is not open to heavy lorries."
)
#: What liars say: a name, a figure, a year that are in no page; and what is only false.
NAMES = ("Zorblatt", "Eleanor Quist", "Norwood", "Vexham", "Captain Hollis", "Tamsin Grole")
PLAINLY_FALSE = (
    "The harbour bridge is open to heavy lorries.",
    "Nobody has counted the inhabitants.",
    "The lighthouse was never lit.",
)


def lies(seed: int) -> list[str]:
    """Lies of one run, those with something that stands in no page first."""
    rolled = random.Random(seed)
    name, year = rolled.choice(NAMES), rolled.choice([1066, 1492, 1755, 1999, 2031])
    figure = rolled.randrange(50_000, 99_000)
    strange = [
        f"{name} lit the lighthouse.",
        f"The lighthouse was lit in {year} by Jory Penhallow.",
        f"The census counted {figure:,} inhabitants.",
        f"In {year} the census was led by {name}.",
    ]
    return [*strange, rolled.choice(PLAINLY_FALSE)]


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    text = f"<title>Port Aldermere</title><main><h1>Port Aldermere</h1><p>{PAGE}</p></main>"
    searx.script("", [world.put("blog", "/town", text)])
    play(model, {"Town": "Port Aldermere"}, keywords={"Town": "census"})
    return Settings.load(iterations=1, knowledge=False)


def lying(model: Model, said: list[str]) -> None:
    """A writer that says nothing but lies, also when it mends."""
    model.script("SectionAnswer", lambda r: written(*((text, [shown(r)[0][0]]) for text in said)))
    model.script(
        "MendingAnswer",
        lambda r: {
            "sentences": [
                {"number": n, "text": f"{text} [E1]"} for n, text in enumerate(reversed(said), 1)
            ]
        },
    )


async def test_with_an_honest_judge_no_lie_ships(model: Model, settings: Settings) -> None:
    for seed in range(3):
        said = lies(seed)
        lying(model, said)
        model.script(
            "VerdictsAnswer", lambda r: honest(r) if in_examination(r) else honest(r, "unsupported")
        )
        result = await research("What is known about Port Aldermere?", settings)
        assert not any(text in result.report for text in said)
        assert result.citations, "what the pages say is told all the same"


async def test_a_judge_that_calls_everything_supported_fails_its_examination(
    model: Model, searx: Searx, settings: Settings
) -> None:
    lying(model, lies(1))
    model.script(
        "VerdictsAnswer",
        lambda r: {
            "verdicts": [{"number": n, "verdict": "supported", "missing": ""} for n, _ in told(r)]
        },
    )
    question = "How many inhabitants does Port Aldermere have and who lit its lighthouse?"
    result = await research(question, settings)
    assert result.mode == "extractive"
    queries = {query for topic in result.topics for query in topic.queries}
    assert queries <= set(searx.queries), "code's plan was not searched"
    assert not any(text in result.report for text in lies(1))


async def test_what_stands_in_no_page_is_asked_with_a_note_of_a_judge_that_passed(
    model: Model, settings: Settings
) -> None:
    said = lies(0)
    lying(model, said)

    def careless(request: ChatRequest) -> dict[str, object]:
        """Hold everything to be true that no note warns of."""
        if in_examination(request) or "found something odd" in request.prompt:
            return honest(request)
        return honest(request, "supported")

    model.script("VerdictsAnswer", careless)
    result = await research("What is known about Port Aldermere?", settings)
    assert not any(text in result.report for text in said[:4])


@pytest.mark.parametrize("seed", range(RUNS))
async def test_without_a_judge_no_figure_date_or_name_ships_that_stands_in_no_page(
    seed: int,
) -> None:
    entry = Evidence(
        id="E1",
        topic="Town",
        quote=PAGE,
        url="https://town.example/",
        start=0,
        end=len(PAGE),
        content_hash="h",
        fetched_at=datetime(2025, 1, 1, tzinfo=UTC),
        origin="u",
        title="Port Aldermere",
    )
    strange = [Sentence(text=text, evidence_ids=("E1",)) for text in lies(seed)[:4]]
    assert all(find_unfounded(sentence, [entry], [Known(PAGE)]) for sentence in strange)
    truth = Sentence(text="In 2024 there were 48,212 inhabitants.", evidence_ids=("E1",))
    section = Section(heading="Town", sentences=(*strange, truth))
    plan = Plan(question="q", topics=(Topic(name="Town", question="q"),))
    material = Material({"E1": entry}, {"h": PAGE}, "")
    found = await verify_sections(None, plan, [section], material, Check(5))
    assert [one.text for one in found.sections[0].sentences] == [truth.text]
