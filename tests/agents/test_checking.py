"""What code says of a sentence by itself: it refuses strange code and addresses, and flags figures,
dates and names that are in no page, and what looks odd.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from spadework.agents.report.checks import (
    Known,
    find_unfounded,
    keep_founded_heading,
    note_doubts,
    reason_to_refuse,
)
from spadework.tools.text.language import language_of
from spadework.values import Evidence, Sentence

QUOTE = "Port Aldermere has 48,212 inhabitants and was founded in 1204 by Queen Isaura."
PAGE = f"""# Port Aldermere

{QUOTE} The harbour is 26.2 miles long. The lighthouse by Jory Penhallow was lit on 2024-05-03.

The budget of the United Councils is 1,523,000 crowns. `port --open` opens the port.

```
import census
census.run()
```
"""


def evidence(quote: str = QUOTE, **changes: object) -> Evidence:
    start = PAGE.find(quote)
    return Evidence(
        id="E1",
        topic="T",
        quote=quote,
        url="https://docs.example/port",
        start=start,
        end=start + len(quote),
        content_hash="h",
        fetched_at=datetime(2025, 1, 1, tzinfo=UTC),
        origin="u",
        title="The town",
        heading="Port Aldermere",
        author="Ada Scribe",
    ).model_copy(update=changes)


def said_of(sentence: Sentence, *cited: Evidence, page: str = PAGE, question: str = "") -> str:
    there, asked = [Known(page)], Known(question)
    refused = reason_to_refuse(sentence, cited, there, asked)
    home = language_of(question)
    return refused or find_unfounded(sentence, cited, [*there, asked], home)


def why(text: str, *, code: bool = False, page: str = PAGE, question: str = "") -> str:
    return said_of(Sentence(text=text, code=code), evidence(), page=page, question=question)


@pytest.mark.parametrize(
    "text",
    [
        "Queen Isaura founded the town in 1204.",
        "The town counts 48212 people.",
        "About 48,000 people live there.",
        "The budget is about 1.5 million crowns.",
        "The harbour is 42 km long.",
        "The harbour is some 42.2 kilometres long.",
        "Jory Penhallow's lamp was lit in May 2024.",
        "The UC has three budgets.",
        "Ada Scribe says so.",
        "Yes, the town has 48,212 people.",
        "None of the sources calls the port unsafe.",
        "The port is not what it was.",
        "`port  --open` opens it.",
        "Die Stadt hat 48.212 Einwohner.",
        "Die PORT-Sperre gilt in der ganzen Stadt, wie ihr Gesetz sagt.",
        "La ville compte 48 212 habitants et elle se trouve au bord de la mer.",
        "Whales sing at night beneath the ice.",
        "Meanwhile, the harbour stays shut.",
        "Granularity: the census counts each town by itself.",
        "Trade-offs: the port is old and long.",
        "Conversely, the town is small.",
    ],
)
def test_what_stands_in_the_page_in_other_words_or_figures_is_not_flagged(text: str) -> None:
    assert why(text) == ""


@pytest.mark.parametrize(
    ("text", "strange"),
    [
        ("The town has 48,213 inhabitants.", "48,213"),
        ("The town was founded in 1205.", "1205"),
        ("About 40,000 people live there.", "40,000"),
        ("The harbour is 45 km long.", "45"),
        ("Some nineteen ships lie there.", "nineteen"),
        ("Five hundred ships lie there.", "Five hundred"),
        ("The lamp was lit in June 2024.", "June"),
        ("The town was founded by King Otto.", "king, otto"),
        ("Zorblatt sells the lamps.", "zorblatt"),
        ("`port --close` closes it.", "port --close"),
        ("More stands at https://evil.example/page.", "https://evil.example/page"),
        ("Die Stadt nutzt IPv6.", "ipv6"),
    ],
)
def test_what_stands_nowhere_is_named(text: str, strange: str) -> None:
    assert strange in why(text)


@pytest.mark.parametrize("heading", ["Granularity", "Trade-offs", "Meanwhile elsewhere"])
def test_the_first_word_of_a_heading_is_no_name(heading: str) -> None:
    assert keep_founded_heading(heading, [Known(PAGE)]) == heading


def test_what_a_reader_says_of_time_place_and_version_is_known() -> None:
    claim = "Norwood closed its harbour on Monday 16 February 2026, as of version 9.4."
    read = evidence(claim=claim)
    for said in ("Norwood closed it in February 2026.", "It holds as of version 9.4."):
        assert said_of(Sentence(text=said), read) == ""
        assert why(said)


def test_a_short_text_is_in_the_language_of_the_question() -> None:
    asked = "Welche Spalten hat die Tabelle der Einwohner, und wie ändert man sie?"
    assert "spaltentyp" in why("Neuer Spaltentyp")
    assert why("Neuer Spaltentyp", question=asked) == ""
    there = [Known(PAGE)]
    assert keep_founded_heading("Unbesetzte Hafen-Anlage", there) == ""
    assert keep_founded_heading("Unbesetzte Hafen-Anlage", there, "de") == "Unbesetzte Hafen-Anlage"


def test_a_series_stands_where_one_of_its_versions_does() -> None:
    assert why("Version 3.2 opens it.", page=f"{PAGE} Version 3.2.17 opens it.") == ""
    assert "3.1" in why("Version 3.1 opens it.", page=f"{PAGE} Version 3.2.17 opens it.")


@pytest.mark.parametrize(
    ("there", "text"),
    [
        ("Eröffnet wurde es am 12.05.2024.", "It was opened on 12 May 2024."),
        ("Seit dem 01.08.2023 gilt es.", "It holds since August 2023."),
        ("Opened 05/12/2024.", "It was opened on May 12, 2024."),
        ("Opened 2023/08/12.", "It was opened in August 2023."),
        ("Use v1.28 of it.", "Version 1.28 of it is used."),
        ("The US economy grew.", "The economy of the United States grew."),
        ("The U.S. economy grew.", "The economy of the United States grew."),
        ("The gates open at 19:00 each day.", "The gates open at 7 pm."),
        ("It has 1'500 seats.", "It has 1,500 seats."),
        ("It was reopened in July.", "It was reopened in July 2024."),
        ("It has 1 500 seats.", "It has 1,500 seats."),
    ],
)
def test_a_date_a_figure_and_a_name_may_be_written_otherwise(there: str, text: str) -> None:
    assert why(text, page=f"{PAGE} {there}") == ""
    assert why(text)


def test_what_the_question_names_may_be_named() -> None:
    assert why("Zorblatt sells the lamps.", question="Does Zorblatt sell lamps?") == ""


def test_several_of_a_name_are_known_by_one() -> None:
    assert why("It names CVEs.", page="It is CVE-2024-10978.") == ""
    assert "cwes" in why("It names CWEs.", page="It is CVE-2024-10978.")


def test_the_day_of_the_page_may_be_told() -> None:
    dated = evidence(published_at=datetime(2031, 7, 9, tzinfo=UTC))
    said = Sentence(text="On 9 July 2031 the town was described anew.")
    assert said_of(said, dated) == ""
    assert "2031" in said_of(said, evidence())


def test_code_must_be_that_of_its_page() -> None:
    assert why("import census\ncensus.run()", code=True) == ""
    assert why("census.stop()", code=True)


@pytest.mark.parametrize(
    ("code", "strange"),
    [
        ("import census\n\nPORT = 'my port'\nresult = census.run()", ""),
        ("def counted(port):\n    result = port.run()\n    census.run(result)", ""),
        ("$ port --open  # of my own", ""),
        ("import census\ncensus.stop()", "“stop”"),
        ("import ledger\nledger.run()", "“ledger”"),
        ("port --open --force", "“--force”"),
        ("census.run()\nstreets >= 3 and\nharbour < 4", ""),
        ("harbour_wall on", "“harbour_wall”"),
        ('census.run("census.stop()")', ""),
    ],
)
def test_code_put_together_uses_only_what_its_sources_have(code: str, strange: str) -> None:
    said = Sentence(text=code, code=True, inferred=True, evidence_ids=("E1",))
    assert strange in said_of(said, evidence())
    assert bool(said_of(said, evidence())) is bool(strange)


def test_what_the_code_of_a_report_defines_may_be_named_and_used_in_it() -> None:
    beside = "def counted(port):\n    return census.run()\nlast"
    pages, asked = [Known(PAGE)], Known("")
    named = Sentence(text="The port is told by `counted(port)`.", evidence_ids=("E1",))
    used = Sentence(text="counted('north')", code=True, inferred=True, evidence_ids=("E1",))
    first = used.model_copy(update={"text": "opened = counted\nopened()"})
    assert reason_to_refuse(first, [evidence()], pages, asked, code=beside) == ""
    for said in (named, used):
        assert reason_to_refuse(said, [evidence()], pages, asked, code=beside) == ""
        assert reason_to_refuse(said, [evidence()], pages, asked)


def test_code_in_a_sentence_may_take_in_the_words_beside_it() -> None:
    page = "Save the roles with the pg_dumpall `--globals-only` option."
    assert why("Roles are saved by `pg_dumpall --globals-only`.", page=page) == ""
    assert why("Roles are saved by `pg_dumpall --roles-only`.", page=page)
    assert why("It is told by `error(message)`.", page="Parser.error(*message*) tells it.") == ""


@pytest.mark.process
def test_code_in_a_sentence_may_be_put_together_of_known_words_and_numbers() -> None:
    page = "asyncio.Semaphore(value=1) and create_subprocess_exec(*program*, \\*args, stdin=None)."
    asks = "How do I run three at once, at most 3?"
    for said in ("`Semaphore(3)`", "`create_subprocess_exec(program, args)`"):
        assert why(f"It takes {said}.", page=page, question=asks) == ""
    assert why("It takes `Semaphore(4)`.", page=page, question=asks)
    assert why("It takes `Semaphore(limit)`.", page=page, question=asks)
    assert why("ls -l\ncd", code=True, page="Type:\n\n    $ ls -l\n    $ cd\n") == ""


def test_code_in_a_sentence_may_leave_something_out() -> None:
    page = "ALTER TABLE t DETACH PARTITION p CONCURRENTLY; then redirect_stderr(new_target)."
    assert why("It is `DETACH PARTITION ... CONCURRENTLY`.", page=page) == ""
    assert why("It is `DETACH PARTITION … FINALIZE`.", page=page)
    assert why("It goes through `redirect_stderr()`.", page=page) == ""
    assert why("It goes through `redirect_stdin()`.", page=page)


def test_a_sentence_without_evidence_is_refused() -> None:
    assert said_of(Sentence(text=QUOTE))


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        ("Port Aldermere was not founded in 1204 by Queen Isaura.", ""),
        ("Port Aldermere was founded in 1204 by Queen Isaura.", ""),
        ("The harbour is 26.2 miles long.", "26.2"),
        ("Jory Penhallow founded the town.", "jory, penhallow"),
        ("Queen Isaura was the mother of Port Aldermere.", "mother"),
        ("It was founded by the mother of those who held the harbour.", "mother"),
        ("The keys of a table are those that its parent holds, and a parent has them all.", ""),
    ],
)
def test_what_looks_odd_is_flagged(text: str, odd: str) -> None:
    note = note_doubts(Sentence(text=text), [evidence()])
    assert odd in note
    assert bool(note) == bool(odd)
