"""What code quotes for a topic, and what it claims of it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from spadework.agents.evidence.passages import Judgement, PassageView
from spadework.agents.extractive.judge import assess
from spadework.agents.extractive.lead import plan
from spadework.values import Evidence, Page, Question

FERROLITE = """# ferrolite

Ferrolite is a small library that winds springs in Python. It was made for the makers of radios.

Ferrolite gives you:

- Springs that never rust.
- Tables of turns for every dial.
- A crank with a counter.

## Install

```sh
pip install ferrolite
```

## Use

To use ferrolite, create a spring and wind it:

```python
from ferrolite import Spring

spring = Spring(turns=30)
spring.wind()
print(spring.minutes)
```

Choose ferrolite when you need a spring that lasts. See the changelog for more. Click here to subscribe!
"""  # noqa: E501
OTHER = """# gearbox

Gearbox is a heavy library for wheels. It is also used by people who like ferrolite, but it does not wind springs at all.

```sh
pip install gearbox
```
"""  # noqa: E501


MUD = "The wheels of a mill were once seen to run backwards, which the miller never explained."
TEXTS = {"ferrolite": FERROLITE, "gearbox": OTHER}


def page(name: str, text: str, rrf: float = 0.0) -> PassageView:
    made = Page(
        url=f"library://{name}-1.0/README.md",
        title=name,
        fetched_at=datetime.now(UTC),
        content_hash=name,
        chars=len(text),
        rrf=rrf,
    )
    return PassageView(page=made, start=0, text=text, heading=name, score=1.0)


def judged(question: str, *shown: PassageView, known: tuple[Evidence, ...] = ()) -> Judgement:
    """The judgement of the first topic of a question, on these pages or the two above."""
    made = plan(Question(text=question), [])
    both = (page("ferrolite", FERROLITE, 0.03), page("gearbox", OTHER, 0.02))
    return assess(made, made.topics[0], shown or both, known)


def quotes(judgement: Judgement) -> list[str]:
    return [spot.quote for spot in judgement.spots]


def test_what_a_page_plainly_answers_is_quoted_first_and_covered() -> None:
    found = judged("What is ferrolite?")
    assert found.covered
    assert quotes(found)[0].startswith("Ferrolite is a small library that winds springs in Python.")
    assert not found.gaps
    assert not found.recommendations


def test_a_definition_begins_with_the_sentence_that_says_it() -> None:
    told = FERROLITE.replace("Ferrolite is a", "Join the makers of ferrolite today. Ferrolite is a")
    assert (
        judged("What is ferrolite?", page("ferrolite", told))
        .spots[0]
        .quote.startswith("Ferrolite is a small library")
    )
    seen = page("ferrolite", f"{FERROLITE}\n\nFerrolite has a forum where makers ask.")
    assert quotes(judged("What is ferrolite?", seen))[0].startswith("Ferrolite is a small library")


QUESTIONS = [
    "What is ferrolite?",
    "How do I use ferrolite?",
    "What does ferrolite give you?",
    "Compare ferrolite and gearbox",
    "How do I bake a cake with plums?",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_quote_stands_at_its_place_and_no_words_are_quoted_twice(question: str) -> None:
    spots = judged(question).spots
    assert all(TEXTS[s.page.content_hash][s.start : s.end] == s.quote for s in spots)
    places = sorted((s.page.url, s.start, s.end) for s in spots)
    assert all(
        one[0] != after[0] or one[2] <= after[1] for one, after in itertools.pairwise(places)
    )


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_same_question_on_the_same_pages_is_judged_the_same(question: str) -> None:
    assert [(s.start, s.quote) for s in judged(question).spots] == [
        (s.start, s.quote) for s in judged(question).spots
    ]
    assert judged(question).score == judged(question).score


def test_code_is_quoted_whole_with_the_sentence_that_introduces_it() -> None:
    found = quotes(judged("How do I use ferrolite?"))
    at = next(n for n, quote in enumerate(found) if "import Spring" in quote)
    assert found[at - 1] == "To use ferrolite, create a spring and wind it:"
    assert found[at].startswith("from ferrolite import Spring\n\nspring = Spring(turns=30)\n")
    assert found[at].endswith("print(spring.minutes)")


def test_a_list_is_quoted_with_the_sentence_that_introduces_it() -> None:
    found = quotes(judged("What does ferrolite give you?"))
    at = found.index("Ferrolite gives you:")
    assert found[at + 1 : at + 4] == [
        "Springs that never rust.",
        "Tables of turns for every dial.",
        "A crank with a counter.",
    ]


LEANING = (
    "# ferrolite\n\nA crank is wound by hand every morning. It winds the ferrolite spring with"
    " these turns:\n\n- Thirty turns of ferrolite in summer.\n- Fifty turns of ferrolite in"
    " winter.\n"
)


def test_a_sentence_that_leans_comes_with_the_one_before_also_above_a_list() -> None:
    found = quotes(judged("How many turns wind the ferrolite spring?", page("f", LEANING)))
    assert "Fifty turns of ferrolite in winter." in found
    assert any(quote.startswith("A crank is wound by hand every morning. It") for quote in found)
    assert not any(quote.startswith("It winds") for quote in found)


BROKEN = (
    "# ferrolite\n\nTo loosen the ferrolite spring by hand one turns the crank with\n\n"
    "```python\nspring.loosen()\n```\n\nAfter that the call\n\n```python\nwind(30)\n```\n\n"
    "is exactly equivalent to winding the ferrolite spring again. In a loop\n\n"
    "```python\nfor spring in springs: wind()\n```\n"
)


@pytest.mark.parametrize("times", [1, 200])
@pytest.mark.parametrize(
    ("question", "broken"),
    [
        (
            "How do I loosen the ferrolite spring by hand?",
            ["To loosen the ferrolite spring by hand one turns the crank with", "spring.loosen()"],
        ),
        (
            "What is equivalent to winding the ferrolite spring again?",
            [
                "After that the call",
                "wind(30)",
                "is exactly equivalent to winding the ferrolite spring again.",
            ],
        ),
        ("How do I wind springs in a loop?", ["In a loop", "for spring in springs: wind()"]),
    ],
)
def test_a_sentence_broken_by_code_is_quoted_whole_with_the_code_or_not_at_all(
    question: str, broken: list[str], times: int
) -> None:
    """Code that is too long to be quoted takes with it the sentences that it breaks."""
    text = BROKEN.replace("wind(30)", "\n".join(["wind(30)"] * times))
    found = [quote.split("\n")[0] for quote in quotes(judged(question, page("f", text)))]
    if times == 1 or broken[0] in found:
        at = found.index(broken[0])
        assert found[at : at + len(broken)] == broken
    else:
        assert not {*broken} & {*found}


def test_what_is_not_there_is_a_gap_with_a_search_that_would_fill_it() -> None:
    found = judged("How do I bake a cake with plums?")
    assert not found.covered
    assert found.gaps
    assert [r.query for r in found.recommendations] == ["bake cake plums"]


def test_what_is_probably_no_answer_is_only_the_nearest() -> None:
    far = judged("When was the observatory of Kelling founded?", page("gearbox", OTHER))
    assert far.near
    assert not far.covered
    assert far.gaps[0] == "No source mentions observatory, Kelling, founded."
    assert not judged("What is ferrolite?", page("ferrolite", FERROLITE)).near


def test_a_recommended_search_says_what_it_is_about() -> None:
    found = judged("Why was the Ferrolite plumage exported abroad?")
    assert not found.covered
    assert [r.query for r in found.recommendations] == ["Ferrolite plumage exported abroad"]


def test_pages_without_text_answer_nothing() -> None:
    found = judged("What is ferrolite?", page("empty", "# ferrolite\n"))
    assert (found.covered, found.score, found.spots) == (False, 0.0, ())
    assert found.gaps == ("No source mentions ferrolite.",)


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        (
            "Wie viele Einwohner hat Port Aldermere?",
            "Port Aldermere hat 48.212 Einwohner.",
            "Der Leuchtturm der Stadt ist aus rotem Stein gebaut.",
        ),
        (
            "Qui a inventé le Quillon ?",
            "Le Quillon a été inventé par Ada Brant.",
            "La ville vend des poissons tous les matins.",
        ),
        ("谁发明了电话?", "电话是由贝尔发明的,他住在波士顿。", "港口的灯塔是用红色的石头建造的。"),
    ],
)
def test_what_is_asked_in_another_language_is_found_in_it(
    question: str, answer: str, other: str
) -> None:
    shown = [page("a", f"# A\n\n{other}\n"), page("b", f"# B\n\n{answer}\n")]
    assert quotes(judged(question, *shown))[0] == answer


@pytest.mark.parametrize("question", ["What is IT?", "What is The Who?", "?", "the", "\x00"])
def test_a_question_of_stop_words_breaks_nothing(question: str) -> None:
    said = "There are three kinds of departments in a large company today.\n"
    assert 0 <= judged(question, page("a", said)).score <= 1


def test_what_another_page_has_said_is_not_quoted_again_and_closes_nothing() -> None:
    first = page("ferrolite", "# ferrolite\n\nFerrolite is a small library that winds springs.\n")
    [spot] = judged("What is ferrolite?", first).spots
    known = Evidence(
        id="E1",
        topic="What is ferrolite?",
        quote=spot.quote,
        url="https://example.org/earlier",
        start=spot.start,
        end=spot.end,
        content_hash="earlier",
        fetched_at=first.page.fetched_at,
        origin="https://example.org/earlier",
    )
    found = judged("What is ferrolite?", first, known=(known,))
    assert not found.spots
    assert not found.covered
    assert found.gaps


TABLE = "| Keyword of a spring | Description |\n|---|---|\n| turns | How often it is wound. |\n"


@pytest.mark.parametrize(("ending", "told"), [("html", False), ("md", True)])
def test_the_names_of_two_columns_are_no_evidence_where_the_page_marks_them(
    ending: str, told: bool
) -> None:
    shown = page("ferrolite", TABLE)
    kept = {"url": f"library://ferrolite/keywords.{ending}", "media_type": "text/markdown"}
    of = shown.page.model_copy(update=kept)
    found = judged("Which keyword has a spring of ferrolite?", replace(shown, page=of))
    rows = [quote.split(" | ")[0] for quote in quotes(found)]
    assert ("| turns" in rows, "| Keyword of a spring" in rows) == (True, told)


def test_the_row_of_a_table_with_one_column_is_quoted_and_its_header_is_not() -> None:
    table = (
        "# springs\n\n| Column Type Description of a spring |\n|---|\n"
        "| `turns` `integer` How often it is wound. |\n| `maker` `text` Who made the spring. |\n"
    )
    shown = page("springs", table)
    of = shown.page.model_copy(update={"url": "https://a.example/springs.html"})
    found = quotes(judged("What type has the column maker of springs?", replace(shown, page=of)))
    assert any("`maker` `text`" in quote for quote in found)
    assert not any("Column Type" in quote for quote in found)


@pytest.mark.parametrize("asked", ["the salt module", "`salt`", "the package salt"])
def test_of_a_module_that_the_question_names_its_own_page_is_quoted(asked: str) -> None:
    salt = page("salt", "# salt\n\nA reader of grains gives one grain after the other.\n")
    other = page("zip", "# zip\n\nRead a file of grains of salt with the zip module.\n")
    found = judged(f"How do I read grains with {asked}?", other, salt)
    assert {spot.page.title for spot in found.spots} == {"salt"}


def test_how_something_is_used_is_told_by_code_that_imports_it() -> None:
    tools = "# Commands of ferrolite\n\n" + "".join(
        f"Use ferrolite to {verb} a ferrolite spring.\n\n```sh\nferrolite {verb} --all\n```\n\n"
        for verb in ("list", "build", "launch", "serve", "paint")
    )
    used = (
        "# ferrolite.spring\n\nExample:\n\n```python\nfrom ferrolite import Spring\nSpring()\n```\n"
    )
    found = quotes(judged("How do I use ferrolite?", page("tools", tools, 0.03), page("f", used)))
    assert any("from ferrolite import Spring" in quote for quote in found)


def test_a_how_to_holds_installation_and_the_first_use_and_no_list_of_features() -> None:
    found = judged("How do I use ferrolite to wind springs?")
    told = quotes(found)
    assert found.covered
    assert [n for n, quote in enumerate(told) if "pip install" in quote] == [0]
    assert told[-1].startswith("from ferrolite import Spring")
    assert not any("never rust" in quote for quote in told)


def test_each_part_of_a_question_is_answered_from_the_passages_about_it() -> None:
    turning = """# crank of a radio

The crank of a radio turns the spring of its dial many times a day, whoever owns the workshop. How
many times a crank turns before evening depends on weather, market and mood of all who live nearby.

Radio spring makers give no times, since every village likes its dial differently and argues long.

A spring that the crank of a radio turned too many times breaks, and costs its maker a good name.

Many a radio has a dial whose spring no crank turns: rivers, windmills and patient oxen do instead.
"""
    gone = "# News of small libraries\n\nFerrolite is gone since release 7.\n"
    question = (
        "In which release was ferrolite given up, and how many times does the crank of a radio turn"
        " the spring of its dial?"
    )
    crank = page("crank of a radio", turning, 0.03)
    said = quotes(judged(question, crank, replace(page("gone", gone, 0.02), score=0.1)))
    assert "Ferrolite is gone since release 7." in said


def test_a_gap_is_told_in_the_language_of_the_question() -> None:
    made = plan(Question(text="Wann wurde die Sternwarte von Kelling gegründet?"), [])
    found = assess(
        made, made.topics[0], [page("gearbox", "# Getriebe\n\nEs hat sechs Gänge.\n")], []
    )
    assert found.gaps[0].startswith("Keine Quelle erwähnt")


def test_a_question_in_another_language_than_the_pages_is_told_so() -> None:
    [gap] = judged("Wie lange läuft eine Feder von ferrolite?").gaps
    assert gap.startswith("Frage und Seiten sind in verschiedenen Sprachen")
    for question in ("For how long does a spring of ferrolite run?", "MIT license"):
        [gap] = judged(question).gaps
        assert "language" not in gap
    german = page("notes", "# Federn\n\nDie Feder ist alt. Wer sie dreht, der muss sie ölen.\n")
    table = page("plan", "# Fahrplan Ulm\n\n| Zug | Gleis |\n|---|---|\n| RE 5 | 3 |\n")
    for shown in ((page("ferrolite", FERROLITE), german), (table,)):
        [gap] = judged("Wie lange läuft eine Feder von ferrolite?", *shown).gaps
        assert "Sprachen" not in gap


@pytest.mark.parametrize(
    ("question", "answered"),
    [
        ("What is the deposit for a cargo bike?", True),
        ("How many days may a bike be hired?", True),
        ("When does the hire season start?", True),
        ("What does a child seat cost to hire?", False),
        ("What is the alarm code of the hire?", False),
        ("Who is the owner of the hire?", False),
        ("What is the capital of Australia?", False),
        ("How heavy is the trailer?", False),
        ("How heavy is the tandem?", True),
        ("How many mechanics work at the hire?", False),
        ("How many bikes stand at the hire?", True),
        ("When is the gate of the hire locked?", True),
        ("On which days is the hire open?", True),
        ("When did the hire buy the gate?", False),
        ("Which colour of helmet does the hire prefer?", True),
        ("Which size of helmet does the hire prefer?", False),
        ("Are dogs allowed at the hire?", True),
        ("Why are dogs allowed at the hire?", False),
        ("Who supervises the ride-outs?", True),
    ],
)
def test_answered_is_only_what_stands_beside_the_subject_of_the_question(
    question: str, answered: bool
) -> None:
    hire = page(
        "hire",
        "# Hire of bikes\n\nDeposit: 50 for each bike, 150 for a cargo bike. A bike may be hired"
        " for 14 days.\n\nThe hire season starts on 1 April.\n\nThe alarm code is not written down,"
        " call 5521.\n\nA trailer costs 12.\n\nThe tandem has a weight of 24 kg.\n\nTwo mechanics"
        " left. At the hire stand some 40 bikes, and nobody may touch them. The gate is locked from"
        " 21:00 to 6:00 and there is no way round it. The hire is open on Tuesdays.\n\nAt the"
        " hire the colour of a helmet is yellow. Dogs are not allowed at the hire. A helmet rack"
        " holds nine. Supervisor of the ride outs: Ada Brant.\n",
    )
    found = judged(question, hire)
    assert found.covered == answered
    assert (found.score == 1.0) == answered
    assert answered or found.gaps


def test_a_definition_says_what_its_subject_is() -> None:
    text = "# ferrolite\n\nFerrolite now supports dials.\n\nFerrolite is a library of springs.\n"
    found = judged("What is ferrolite?", page("ferrolite", text))
    assert found.covered
    assert found.spots[0].quote == "Ferrolite is a library of springs."
    less = text.replace("is a library", "winds a library")
    assert not judged("What is ferrolite?", page("ferrolite", less)).covered


def test_of_an_answer_no_more_than_three_sentences_are_quoted_the_one_that_says_it_first() -> None:
    told = "\n\n".join(f"The ferry to Kelling is a fine ship of line {n}." for n in "abcdefgh")
    text = f"# Ferry\n\n{told}\n\nThe ferry to Kelling leaves on Dec. 22 from the old harbour.\n"
    found = quotes(judged("When does the ferry to Kelling leave?", page("ferry", text)))
    assert found[0] == "The ferry to Kelling leaves on Dec. 22 from the old harbour."
    assert len(found) <= 3


def test_words_that_no_page_holds_are_named_and_two_passages_are_shown() -> None:
    found = judged("What is the capital of Australia?")
    assert found.near
    assert found.gaps == ("No source mentions capital, Australia.",)
    assert len(found.spots) <= 2


def test_an_item_comes_without_a_sentence_that_does_not_introduce_it() -> None:
    notes = (
        "# Harbour\n\nThe work costs 48,000 euros{}\n\n- Dagny applies for the grant by 1 May.\n"
    )
    for end, led in ((".", False), (", and these help:", True)):
        found = quotes(judged("Who applies for the grant?", page("notes", notes.format(end))))
        assert any("Dagny applies for the grant" in quote for quote in found)
        assert any("48,000" in quote for quote in found) == led


HOURS = page(
    "Museum of type – visit",
    "April to October\n\n- Wed, Thu, Fri: 10.30 – 16.30\n- Saturday: 10.00 – 17.00\n\n"
    "November to March\n\n- Fri and Sat only: 11.00 – 15.30\n",
)
VISIT = page(
    "visit",
    "# Library\n\nThe reading room is separate. Thursdays 14.00–16.00 by appointment.\n\n"
    "# Garden\n\nThe surgeon says that the mulberry tree must be propped, not felled.\n\n"
    "If the alarm goes off: ring Castle Security, give the password.\n",
)


def test_a_short_section_whose_heading_names_what_is_asked_for_is_quoted_whole() -> None:
    hours = replace(HOURS, heading="Museum of type – visit > Opening hours")
    found = judged("Which days is the museum open in winter?", VISIT, hours)
    assert not found.covered
    assert "Fri and Sat only: 11.00 – 15.30" in quotes(found)[:5]


def test_a_sentence_that_only_repeats_the_question_comes_with_the_next() -> None:
    assert any("Thursdays" in quote for quote in quotes(judged("reading room hours", VISIT))[:1])


def test_what_a_source_denies_is_not_answered_and_the_gap_says_so() -> None:
    found = judged("Why was the mulberry tree felled?", VISIT)
    assert not found.covered
    assert found.gaps == ("A source says the opposite of what the question assumes.",)


def test_of_keywords_alone_nothing_is_claimed() -> None:
    assert not judged("alarm password", VISIT).covered


def test_what_is_asked_for_may_stand_within_the_words_that_ask() -> None:
    words = page("words", "# Words\n\nWayzgoose - the outing of printers in August.\n")
    assert judged("what does wayzgoose mean", words).covered


def test_of_no_more_than_three_passages_is_quoted_what_proves_nothing() -> None:
    pages = [
        page(f"p{n}", f"# Page {n}\n\nThe old ferry number {n} rests here.\n") for n in range(9)
    ]
    found = judged("Where did the old ferry sail from in the war?", *pages)
    assert not found.covered
    assert len({spot.page.title for spot in found.spots}) <= 3


def test_a_list_answers_only_what_is_said_above_it() -> None:
    text = """# Releases of gearbox

The release brings:

- Kinds of wheels that the person who builds a gearbox may have to order are listed.
- The release of a wheel is faster.
- A wheel may be made twice.
"""
    asked = "What kinds of wheel may the person releasing gearbox have to make?"
    assert not judged(asked, page("gearbox", text)).covered
    listed = text.replace("The release brings:", "Kinds of wheel that a release has to make:")
    assert judged(
        "What kinds of wheel does a gearbox release make?", page("gearbox", listed)
    ).covered


def test_of_equal_words_those_in_the_better_passage_and_nearer_the_top_come_first() -> None:
    low = replace(page("low", "The ferry Aurora rests in the mud of the bay."), score=0.5)
    high = replace(page("high", "The ferry Aurora rests in the mud of the cove."), score=2.0)
    late = replace(page("late", "The ferry Aurora rests in the mud of the lake."), score=2.0)
    late = replace(late, start=90_000)
    quotes = [
        spot.quote for spot in judged("Why was the ferry Aurora given up?", low, late, high).spots
    ]
    assert "cove" in quotes[0]


def test_a_long_list_that_proves_nothing_leaves_room_for_other_passages() -> None:
    items = "\n".join(f"- The gearbox wheel number {n} turns at its own pace." for n in range(23))
    text = f"# gearbox\n\nThe wheels of a gearbox:\n\n{items}\n"
    found = judged(
        "How do I turn the wheels of a gearbox in the mud?", page("gearbox", text), page("mud", MUD)
    )
    assert not found.covered
    assert any("a mill" in spot.quote for spot in found.spots)


@pytest.mark.parametrize("cost", ["", "The dredging costs 218,500 euros. "])
def test_half_an_answer_is_no_answer(cost: str) -> None:
    text = f"# Harbour\n\nThe council met. {cost}Dredging starts on 14 September 2026.\n"
    question = "When does the dredging start and what does it cost?"
    found = judged(question, page("harbour", text))
    assert found.covered == bool(cost)


def test_the_word_compare_is_not_looked_for() -> None:
    made = plan(Question(text="Compare ferrolite and zorblatt"), [])
    [gap] = assess(made, made.topics[-1], (page("ferrolite", FERROLITE),), ()).gaps
    assert gap == "No source mentions zorblatt."


def test_of_a_list_the_item_with_the_asked_value_comes_first() -> None:
    prices = """# Prices

The price of entry in euros:

- Entry for adults with a guide: 9
- Entry for children: 4
- Entry for students: 6
"""
    found = quotes(judged("What is the price of entry for students?", page("prices", prices)))
    assert found[:2] == ["The price of entry in euros:", "Entry for students: 6"]
    # Steps keep their order, whichever fits the question best.
    steps = """# Press

How to clean the press:

1. Unplug the press from the wall.
2. Wipe the press with a cloth.
3. To clean the ink of the press, use spirit.
"""
    found = " ".join(quotes(judged("How do I clean the ink of the press?", page("press", steps))))
    assert found.index("Unplug") < found.index("Wipe") < found.index("spirit")


def test_a_how_to_about_one_task_is_not_answered_by_the_first_steps_of_the_package() -> None:
    steps = """# ferrolite.Crank

Reverse a spring that is wound, in order to slow the radio. To reverse springs, call `reverse`.
"""
    crank = page("crank", steps)
    own = crank.page.model_copy(update={"url": "library://ferrolite-1.0/crank.md"})
    first = page("ferrolite", FERROLITE + "\n- Reverse springs.\n", 0.03)
    shown = first, replace(crank, page=own)
    found = quotes(judged("How do I reverse springs with ferrolite?", *shown))
    assert any("call `reverse`" in quote for quote in found)
    assert any("pip install" in q for q in quotes(judged("How do I use ferrolite?", *shown)))


SPRINGS = """# ferrolite.springs

Springs of all kinds.

## ferrolite.springs.coil

`ferrolite.springs.coil(wire, turns=30)`

Coil a rusty spring around its axle.

## ferrolite.springs.report

`ferrolite.springs.report(path)`

Write the makers, the prices, the turns and the colours of all springs that ever came out of the
works, of which some are rusty, to a list, with the coil and the axle of each.

## class ferrolite.springs.RadioDial

`ferrolite.springs.RadioDial(size)`

A dial that turns.

### RadioDial.turn

`RadioDial.turn(minutes)`

Turn slowly against the clock.
"""


@pytest.mark.parametrize(
    ("question", "covered"),
    [
        ("How do I coil a rusty spring around an axle in ferrolite?", True),
        ("How do I coil a rusty spring around an axle?", False),
        ("How do I coil a rusty spring with ferrolite?", True),
        ("How do I list the prices of rusty springs with ferrolite?", False),
        ("How do I turn slowly against the clock with ferrolite?", False),
        ("How do I turn a ferrolite radio dial slowly against the clock?", True),
        ("How do I coil a rusty spring under water with ferrolite?", False),
        ("How do I coil a rusty spring in gearbox?", False),
    ],
)
def test_a_documented_call_answers_only_the_whole_task(question: str, covered: bool) -> None:
    shown = page("ferrolite", SPRINGS), page("gearbox", OTHER)
    found = judged(question, *shown)
    assert found.covered is covered
    if covered:
        assert quotes(found)[0].startswith(("`ferrolite.springs.coil(", "`RadioDial.turn("))
        assert {spot.page.title for spot in found.spots} == {found.spots[0].page.title}


@pytest.mark.parametrize(
    ("at", "covered"),
    [
        ({"url": "library://ferrolite-1.0/springs.md"}, False),
        ({"url": "library://ferrolite-2/springs.md"}, False),
        ({"url": "library://python-ferrolite-1.0/springs.md"}, False),
        ({"url": "library://python-3.11.7/ferrolite.py"}, True),
        ({"url": "library://Workshop/springs.md"}, True),
        ({"url": "library://manual-2.1/springs.md", "kind": "own"}, True),
        ({"url": "https://springs.example/wind"}, True),
        ({"url": "library://ferrolite-1.0/springs.md", "title": "axle.spring: wind"}, True),
        ({"url": "library://axle-1.0/springs.md"}, True),
        ({"url": "library://AroundAnAxle-1.0/springs.md"}, True),
    ],
)
def test_a_how_to_is_not_answered_by_a_package_that_it_does_not_name(
    at: dict[str, str], covered: bool
) -> None:
    for text, question in (
        (SPRINGS, "How do I coil a rusty spring around an axle?"),
        (
            "# Use\n\nTo wind 2 springs around an axle in Python:\n\n```\nwind()\n```\n",
            "How do I wind 2 springs around an axle in Python?",
        ),
    ):
        shown = page("ferrolite", text)
        moved = replace(shown, page=shown.page.model_copy(update=at))
        assert judged(question, moved, page("gearbox", OTHER)).covered is covered


def test_of_the_passage_about_a_call_the_sentences_stay_in_order() -> None:
    call = "`ferrolite.springs.coil(wire)`\n\nCoil a rusty spring around its axle."
    text = f"{call} The wire may be new.\n\nAfter that, the spring is oiled with rusty care."
    documented = page("ferrolite", text)
    elsewhere = replace(page("ferrolite", "A rusty spring needs an axle of iron."), start=2_000)
    found = judged(
        "How do I coil a rusty spring around an axle in ferrolite?", documented, elsewhere
    )
    told = [quote.partition(". ")[0] for quote in quotes(found)]
    assert found.covered
    assert told[0].startswith("`ferrolite.springs.coil(wire)`")
    assert [text.index(quote) for quote in told] == sorted(text.index(quote) for quote in told)
