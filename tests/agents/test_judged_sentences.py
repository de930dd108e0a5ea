"""What becomes of a sentence that is not the words of its quote: it is judged by the model, mended
once by its writer, or taken out. No quote stands in for it.
"""

from __future__ import annotations

from typing import Any

import pytest

from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.values import Result
from tests.world.brain import evidence, play, written
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World
from tests.world.verdicts import in_examination, told, verdicts as verdicts_of

LAMP = "The old lamp of the lighthouse was replaced by an electric one after the great storm."
FREE = "After the great storm the lighthouse got a modern electric light."
WRONG = "After the great storm of 1999 the lighthouse got an electric lamp."


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """One page with one fact, of which the writer says what is true in other words, and what is
    not.
    """
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    more = (
        "<p>Much else is told of the town by those who live there, and little of it has ever been"
        " written down by anybody.</p>"
    )
    searx.script(
        "",
        [
            world.put(
                "blog",
                "/lamp",
                f"<title>The lamp</title><main><h1>The lamp</h1><p>{LAMP}</p>{more}</main>",
            )
        ],
    )
    play(model, {"Lamp": "lighthouse lamp"}, keywords={"Lamp": "lamp"})

    def write(request: ChatRequest) -> dict[str, object]:
        ids = [id_ for id_, _ in evidence(request)]
        return written(*((text, ids) for text in (FREE, WRONG)))

    model.script("SectionAnswer", write)
    judging(model)
    return Settings.load(iterations=1)


async def verdicts(settings: Settings) -> tuple[Result, dict[str, str]]:
    result = await research("What is known about the lamp of the lighthouse?", settings)
    return result, {c.sentence: c.verdict for c in result.citations}


def judging(model: Model, **found: str) -> None:
    """Script the verdicts on sentences with a word in them; what tells of 1999 is unsupported, all
    others hold.
    """
    model.script("VerdictsAnswer", lambda request: row_by_row(request, **found))


def asked_of(model: Model, schema: str) -> list[ChatRequest]:
    return [r for r in model.requests if r.schema_name == schema and not in_examination(r)]


def mending(model: Model, *texts: tuple[int, str]) -> None:
    model.script(
        "MendingAnswer",
        lambda request: {
            "sentences": [
                {"number": n, "text": f"{text} [E1]" if text else ""} for n, text in texts
            ]
        },
    )


async def test_a_figure_that_stands_in_no_page_is_judged_with_a_note(
    model: Model, settings: Settings
) -> None:
    judging(model, **{"1999": "supported"})
    _, found = await verdicts(settings)
    assert found == {FREE: "supported", WRONG: "supported"}
    [request] = asked_of(model, "VerdictsAnswer")
    assert FREE in request.prompt and WRONG in request.prompt and LAMP in request.prompt
    assert request.prompt.count("1999: in no page that is cited.") == 1
    assert not asked_of(model, "MendingAnswer")


async def test_what_stands_before_a_mark_is_judged_by_sentence_and_ships_or_falls_as_a_whole(
    model: Model, settings: Settings
) -> None:
    held = "The lamp was replaced by Spk. Storm. It is electric."
    false = "The lamp is old. It is fancy."
    model.script("SectionAnswer", written((held, ["E1"]), (false, ["E1"])))
    model.script("MendingAnswer", Fault("refusal"))
    judging(model, fancy="contradicted")
    _, found = await verdicts(settings)
    assert found == {held: "supported"}
    [asked] = asked_of(model, "VerdictsAnswer")
    assert [text for _, text in told(asked)] == [
        "The lamp was replaced by Spk.",
        "Storm.",
        "It is electric.",
        "The lamp is old.",
        "It is fancy.",
    ]
    assert "Storm. (it comes after “The lamp was replaced by Spk.”)" in asked.user


async def test_code_that_stands_in_no_page_is_refused_whoever_judges(
    model: Model, settings: Settings
) -> None:
    model.script("SectionAnswer", written((FREE, ["E1"]), ("It is lit by `lamp --on`.", ["E1"])))
    mending(model, (2, ""))
    _, found = await verdicts(settings)
    assert found == {FREE: "supported"}
    [asked] = asked_of(model, "VerdictsAnswer")
    assert "lamp --on" not in asked.prompt


async def test_what_did_not_hold_goes_back_to_its_writer_with_the_reason(
    model: Model, settings: Settings
) -> None:
    judging(model, modern="contradicted")
    better = "An electric lamp took the place of the old one."
    mending(model, (1, better), (2, ""))
    _, found = await verdicts(settings)
    assert found == {better: "supported"}
    [asked] = asked_of(model, "MendingAnswer")
    assert FREE in asked.prompt
    assert "contradicted. Not borne out: not modern." in asked.prompt
    assert "unsupported. Not borne out: not 1999." in asked.prompt


async def test_a_mend_is_told_what_the_evidence_says_and_the_summary_is_written_from_it(
    model: Model, settings: Settings
) -> None:
    better = "An electric lamp took the place of the old one."
    more = [f"The {word} lamp was replaced." for word in ("old", "dim", "weak", "dark", "worn")]
    model.script("SectionAnswer", written(*((text, ["E1"]) for text in (WRONG, *more))))
    model.script("SummaryAnswer", {"markdown": "The old lamp is gone. [E1]"})
    mending(model, (1, better))

    def answer(request: ChatRequest) -> dict[str, object]:
        said = row_by_row(request)
        for verdict in said["verdicts"]:
            if verdict["missing"]:
                verdict["evidence_says"] = "after the great storm"
        return said

    model.script("VerdictsAnswer", answer)
    await verdicts(settings)
    [mended] = asked_of(model, "MendingAnswer")
    assert "Not borne out: not 1999. The evidence says: after the great storm" in mended.prompt
    [summed] = asked_of(model, "SummaryAnswer")
    assert better in summed.prompt
    assert "1999" not in summed.prompt


async def test_what_does_not_hold_after_it_was_mended_is_taken_out_and_named(
    model: Model, settings: Settings
) -> None:
    judging(model, modern="partly")
    mending(model, (1, FREE + " It is modern."), (2, "The storm left the tower dark for a night."))
    result, found = await verdicts(settings)
    assert found == {"The storm left the tower dark for a night.": "supported"}
    assert any(
        "modern" in p.reason and p.effect == "The sentence was removed." for p in result.problems
    )


async def test_a_sentence_that_held_stays_when_its_new_words_do_not(
    model: Model, settings: Settings
) -> None:
    judging(model, fancy="unsupported")
    mending(model, (1, "After the great storm the lighthouse got a fancy light."), (2, ""))
    _, found = await verdicts(settings)
    assert found == {FREE: "supported"}


async def test_what_would_hang_in_the_air_is_put_right_or_goes_too(
    model: Model, settings: Settings
) -> None:
    def write(request: ChatRequest) -> dict[str, object]:
        texts = (
            FREE,
            WRONG,
            "However, the old lamp was kept.",
            WRONG,
            "It burns brightly every night.",
        )
        return written(*((text, ["E1"]) for text in texts))

    model.script("SectionAnswer", write)
    model.script("MendingAnswer", Fault("refusal"))
    _, found = await verdicts(settings)
    assert found == {FREE: "supported", "The old lamp was kept.": "supported"}


async def test_of_a_section_in_which_nothing_holds_the_quotes_are_shown(
    model: Model, settings: Settings
) -> None:
    judging(model, modern="unsupported")
    mending(model, (1, ""), (2, ""))
    _, found = await verdicts(settings)
    assert found == {LAMP: "supported"}


async def test_what_the_model_cannot_check_stays_and_says_so(
    model: Model, settings: Settings
) -> None:
    judging(model, modern="could not check")
    mending(model, (2, ""))
    _, found = await verdicts(settings)
    assert found == {FREE: "could not check"}


async def test_a_judge_that_fails_supports_nothing(model: Model, settings: Settings) -> None:
    def answer(request: ChatRequest) -> dict[str, object] | Fault:
        return verdicts_of(request) if in_examination(request) else Fault("refusal")

    model.script("VerdictsAnswer", answer)
    mending(model, (2, ""))
    result, found = await verdicts(settings)
    assert found == {FREE: "could not check"}
    assert {c.judge for c in result.citations} == {"nobody"}
    assert any(
        p.subject == "verifier" and "could not be checked" in p.effect for p in result.problems
    )


async def test_each_sentence_carries_who_wrote_and_who_judged_it(
    model: Model, settings: Settings
) -> None:
    model.script("SectionAnswer", written((FREE, ["E1"]), (LAMP, ["E1"])))
    result, _ = await verdicts(settings)
    made = {c.sentence: (c.maker, c.judge) for c in result.citations}
    assert made == {
        FREE: ("openai:world-model", "openai:world-model"),
        LAMP: ("openai:world-model", "code"),
    }
    assert "1 supported by sources, 1 quoted word for word" in result.report
    told = [one.maker for one in result.document.sections[0].sentences]
    assert told == ["openai:world-model"] * 2


async def test_what_code_has_composed_is_not_called_written_by_the_model_that_planned(
    model: Model, settings: Settings
) -> None:
    model.script("SectionAnswer", Fault("refusal"))
    result, found = await verdicts(settings)
    assert LAMP in found
    assert {(c.maker, c.judge) for c in result.citations} == {("code", "code")}
    assert result.mode == "extractive"
    assert "Written by" not in result.report
    assert "No language model wrote or checked this" in result.report


async def test_what_looks_odd_to_code_is_judged_with_a_note(
    model: Model, settings: Settings
) -> None:
    odd = "The great storm is the father of the electric lamp of the lighthouse."
    model.script("SectionAnswer", written((odd, ["E1"])))

    def answer(request: ChatRequest) -> dict[str, object]:
        noted = "found something odd" in request.prompt
        return verdicts_of(request, "contradicted" if noted else "supported")

    model.script("VerdictsAnswer", answer)
    mending(model, (1, ""))
    _, found = await verdicts(settings)
    assert found == {LAMP: "supported"}
    assert len(asked_of(model, "VerdictsAnswer")) == 1


async def test_a_table_is_judged_cell_by_cell_with_row_and_column(
    model: Model, settings: Settings
) -> None:
    rows = (
        "| The old lamp | gave way to an electric one [E1] |\n| A third lamp | burns in 1999 [E1] |"
    )
    model.script("SectionAnswer", {"markdown": f"| Lamp | What became of it |\n|---|---|\n{rows}"})
    model.script("MendingAnswer", Fault("refusal"))
    result, found = await verdicts(settings)
    assert found == {"gave way to an electric one": "supported"}
    [asked] = asked_of(model, "VerdictsAnswer")
    assert "The old lamp · What became of it: gave way to an electric one [E1]" in asked.prompt
    assert (
        "| The old lamp | gave way to an electric one [1] |\n| A third lamp | – |" in result.report
    )


async def test_a_row_that_is_renamed_has_no_mark_of_its_own(
    model: Model, settings: Settings
) -> None:
    row = "| The lamp of 1999 | gave way in 1999 to an electric one [E1] |"
    model.script("SectionAnswer", {"markdown": f"| Lamp | What became of it |\n|---|---|\n{row}"})
    mending(model, (1, "The old lamp"), (2, "gave way to an electric one"))
    _, found = await verdicts(settings)
    assert found == {"gave way to an electric one": "supported"}


async def test_a_conclusion_is_called_one(model: Model, settings: Settings) -> None:
    model.script("SectionAnswer", {"markdown": f"{FREE} [E1→]"})
    _, found = await verdicts(settings)
    assert found == {FREE: "inference"}


async def test_a_model_that_fails_its_examination_neither_judges_nor_writes(
    model: Model, settings: Settings
) -> None:
    model.script(
        "VerdictsAnswer",
        lambda r: {
            "verdicts": [{"number": n, "verdict": "supported", "missing": ""} for n, _ in told(r)]
        },
    )
    result, found = await verdicts(settings)
    assert result.mode == "extractive"
    assert LAMP in found
    assert [topic.name for topic in result.topics] == [result.question], "as code would plan it"
    assert {r.schema_name for r in model.requests} == {"PlanAnswer", "VerdictsAnswer"}
    [problem] = [p for p in result.problems if p.stage == "qualification"]
    assert "15 of 30" in problem.reason
    model.requests.clear()
    again, _ = await verdicts(settings)
    assert (again.mode, model.requests) == ("extractive", []), "who guesses is not asked again"
    assert again.forecast
    assert again.forecast.calls.high == 0
    assert "no model" in again.forecast.kind
    [problem] = [p for p in again.problems if p.stage == "qualification"]
    assert problem.effect.startswith("The model was not used")
    assert again.report.partition("## Problems")[0] == result.report.partition("## Problems")[0]


def row_by_row(request: ChatRequest, **found: str) -> dict[str, Any]:
    """The verdicts on what is told with a word in it; all else holds."""
    said = verdicts_of(request, "supported")
    for n, sentence in told(request):
        for word, verdict in {"1999": "unsupported", **found}.items():
            if word in sentence:
                said["verdicts"][n - 1] |= {"verdict": verdict, "missing": f"not {word}"}
    return said


async def test_the_same_words_in_two_cells_are_judged_each_in_its_place(
    model: Model, settings: Settings
) -> None:
    rows = "| The old lamp | was replaced [E1] |\n| The lighthouse | was replaced [E1] |"
    model.script("SectionAnswer", {"markdown": f"| What | Became |\n|---|---|\n{rows}"})
    model.script("VerdictsAnswer", lambda r: row_by_row(r, **{"lighthouse ·": "contradicted"}))
    model.script("MendingAnswer", Fault("refusal"))
    result, _ = await verdicts(settings)
    assert "| The old lamp | was replaced [1] |\n| The lighthouse | – |" in result.report


async def test_what_leans_on_a_mended_sentence_is_judged_again(
    model: Model, settings: Settings
) -> None:
    lit = "It burns brightly every night."
    model.script("SectionAnswer", {"markdown": f"{WRONG} [E1] {lit} [E1]"})
    mending(model, (1, "The old lamp of the lighthouse was replaced."))

    def answer(request: ChatRequest) -> dict[str, object]:
        said = row_by_row(request)
        for n, line in enumerate(lines(request)):
            if "burns" in line and "comes after “The old" in line:
                said["verdicts"][n] |= {"verdict": "contradicted", "missing": "burns"}
        return said

    model.script("VerdictsAnswer", answer)
    _, found = await verdicts(settings)
    assert found == {"The old lamp of the lighthouse was replaced.": "supported"}


def lines(request: ChatRequest) -> list[str]:
    """The sentences that a verifier is shown, with what they follow."""
    shown = request.prompt.rpartition("Sentences, each with the evidence it cites:")[2]
    return [line for line in shown.splitlines() if line[:1].isdigit()]


async def test_a_sentence_that_the_judge_passes_over_is_named(
    model: Model, settings: Settings
) -> None:
    other = "The storm left the tower dark for a night."
    model.script("SectionAnswer", written((FREE, ["E1"]), (other, ["E1"])))

    def answer(request: ChatRequest) -> dict[str, object]:
        said = verdicts_of(request, "supported")
        return said if in_examination(request) else {"verdicts": said["verdicts"][:1]}

    model.script("VerdictsAnswer", answer)
    result, found = await verdicts(settings)
    assert found == {FREE: "supported", other: "could not check"}
    [problem] = [p for p in result.problems if p.subject == "verifier"]
    assert problem.effect == "1 sentence could not be checked by a model."
    assert "no verdict" in problem.reason


async def test_of_two_verdicts_on_one_sentence_the_stricter_counts(
    model: Model, settings: Settings
) -> None:
    model.script("SectionAnswer", written((FREE, ["E1"])))

    def answer(request: ChatRequest) -> dict[str, object]:
        said = verdicts_of(request, "supported")
        if not in_examination(request):
            no = {"number": 1, "verdict": "unsupported", "missing": "modern"}
            said["verdicts"] = [no, *said["verdicts"]]
        return said

    model.script("VerdictsAnswer", answer)
    model.script("MendingAnswer", Fault("refusal"))
    _, found = await verdicts(settings)
    assert found == {LAMP: "supported"}


async def test_what_is_mended_keeps_its_form(model: Model, settings: Settings) -> None:
    judging(model)
    table = "| Lamp | Became |\n|---|---|\n| The old lamp | stolen by Zorblatt [E1] |"
    model.script(
        "SectionAnswer",
        {"markdown": f"{table}\n\nUse `zorblatt` [E1].\n\n```sh [E1]\nzorblatt\n```"},
    )
    mending(
        model,
        (2, "The old lamp · Became: electric"),
        (3, "The `lamp` was replaced."),
        (4, "The old lamp"),
    )
    result, _ = await verdicts(settings)
    assert "| The old lamp | electric [1] |" in result.report
    assert "The `lamp` was replaced. [1]" in result.report
    assert "```sh\nThe old lamp\n```" in result.report
    [asked] = asked_of(model, "MendingAnswer")
    assert "2. (The old lamp · Became) stolen by Zorblatt [E1]" in asked.user
    assert "3. Use `zorblatt`. [E1]" in asked.user
    assert "4. Code [E1]:" in asked.user


async def test_a_report_has_one_summary(model: Model, settings: Settings) -> None:
    play(model, {"Summary": "lighthouse lamp"}, keywords={"Summary": "lamp"})
    free = [f"The {word} lamp was replaced." for word in ("old", "dim", "weak", "dark", "worn")]
    model.script("SectionAnswer", written(*((text, ["E1"]) for text in free)))
    model.script("SummaryAnswer", {"markdown": "The old lamp is gone. [E1]"})
    result, _ = await verdicts(settings)
    assert result.report.count("## Summary") == 1
    assert "The worn lamp was replaced." in result.report


async def test_an_item_is_judged_with_the_line_that_leads_to_it(
    model: Model, settings: Settings
) -> None:
    judging(model)
    text = f"The lighthouse never had the following:\n\n- {LAMP} [E1]\n\nThe light was new [E1]."
    text += " And it was [E1]."
    model.script("SectionAnswer", {"markdown": text})
    await verdicts(settings)
    [asked] = asked_of(model, "VerdictsAnswer")
    assert f"{LAMP} (it comes after “The lighthouse never had the following:”)" in asked.user
    assert "The light was new. [E1]" in asked.user
    assert "And it was. (it comes after “The light was new.”) [E1]" in asked.user


async def test_names_of_rows_and_lead_ins_are_judged_with_what_they_introduce(
    model: Model, settings: Settings
) -> None:
    judging(model)
    long = "The old lamp of the lighthouse, or the electric one that came after the great storm"
    rows = "| The lamp in the lighthouse | electric [E1] |\n| The lamp of Zorblatt | new [E1] |"
    rows += f"\n| {long} | modern [E1] |"
    items = f"Choose the lighthouse if:\n\n- {LAMP} [E1]"
    text = f"| Thing | Kind |\n|---|---|\n{rows}\n\n{items}"
    model.script("SectionAnswer", {"markdown": text})
    result, _ = await verdicts(settings)
    [asked, *_] = asked_of(model, "VerdictsAnswer")
    assert "The lamp in the lighthouse · Kind: electric [E1]" in asked.user
    assert f"{LAMP} (it comes after “Choose the lighthouse if:”)" in asked.user
    assert "The lamp in the lighthouse (it names a row)" not in asked.user
    assert "Choose the lighthouse if: [" not in asked.user
    assert "The lamp of Zorblatt (it names a row)" in asked.user, "a name that is in no page"
    assert f"{long} · Kind: modern [E1]" in asked.user
    assert f"| {long} | modern [1] |" in result.report, "a name, however long, needs no mark"


async def test_a_lead_in_to_a_table_or_code_is_judged_itself(
    model: Model, settings: Settings
) -> None:
    judging(model)
    table = "| Thing | Kind |\n|---|---|\n| The lamp | electric [E1] |"
    code = "```sh [E1]\nlamp --on\n```"
    text = f"The lighthouse was closed: [E1]\n\n{table}\n\nThe lamp never worked: [E1]\n\n{code}"
    model.script("SectionAnswer", {"markdown": text})
    await verdicts(settings)
    [asked, *_] = asked_of(model, "VerdictsAnswer")
    assert "The lighthouse was closed:" in asked.user
    assert "The lamp never worked:" in asked.user


async def test_a_table_of_one_column_has_no_names_of_rows(model: Model, settings: Settings) -> None:
    judging(model)
    table = "| What is known |\n|---|\n| Lamps replaced storms |\n| The lamp is electric [E1] |"
    model.script("SectionAnswer", {"markdown": f"{table}\n\n{FREE} [E1]"})
    result, _ = await verdicts(settings)
    assert "The lamp is electric" in result.report
    assert "Lamps replaced storms" not in result.report


async def test_what_stands_in_the_place_of_a_false_sentence_must_be_judged(
    model: Model, settings: Settings
) -> None:
    wrong, again = "The storm was replaced by a lamp.", "A lamp took the place of the storm."
    model.script("SectionAnswer", written((FREE, ["E1"]), (wrong, ["E1"])))
    mending(model, (2, again))
    asked = []

    def answer(request: ChatRequest) -> dict[str, object]:
        said = verdicts_of(request, "supported")
        if in_examination(request):
            return said
        asked.append(request)
        found = [v | {"verdict": "contradicted"} for n, v in enumerate(said["verdicts"]) if n == 1]
        return {"verdicts": [said["verdicts"][0], *found] if len(asked) == 1 else []}

    model.script("VerdictsAnswer", answer)
    result, found = await verdicts(settings)
    assert found == {FREE: "supported"}
    assert len(asked) == 2
    assert any(again in p.reason and "could not be checked" in p.reason for p in result.problems)
