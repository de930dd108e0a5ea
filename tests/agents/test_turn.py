"""What a follow-up wants of a report, by its words: what is taken for sure must be right."""

from __future__ import annotations

import pytest

from spadework.agents.reviser import Turn, requested_addition, sure_turn

FORM = [
    ("shorter", Turn(kind="form", length="shorter")),
    ("Shorter, please.", Turn(kind="form", length="shorter")),
    ("Can you make it a bit longer?", Turn(kind="form", length="longer")),
    ("Please write this in German", Turn(kind="form", language="de")),
    ("in French, and much shorter", Turn(kind="form", language="fr", length="shorter")),
    ("as a table", Turn(kind="form")),
    ("now as bullet points", Turn(kind="form")),
    ("more details please", Turn(kind="form", length="longer")),
    ("Translate the report into Spanish!", Turn(kind="form", language="es")),
    ("kürzer bitte", Turn(kind="form", length="shorter")),
    ("Mach es bitte ausführlicher", Turn(kind="form", length="longer")),
    ("auf Englisch", Turn(kind="form", language="en")),
    ("Kannst du das als Tabelle schreiben?", Turn(kind="form")),
    ("Can you say it in Spanish?", Turn(kind="form", language="es")),
    ("Could you shorten it?", Turn(kind="form", length="shorter")),
    ("Kannst du das kürzer machen?", Turn(kind="form", length="shorter")),
    ("peux-tu le faire plus court ?", Turn(kind="form", length="shorter")),
    ("¿Puedes hacerlo más corto?", Turn(kind="form", length="shorter")),
    ("plus court", Turn(kind="form", length="shorter")),
    ("en anglais, s'il te plaît", Turn(kind="form", language="en")),
    ("más corto, por favor", Turn(kind="form", length="shorter")),
    ("tradúcelo al alemán", Turn(kind="form", language="de")),
]
#: Words of form in what is a question, an addition, or for the lead to say.
NOT_SURE = [
    "Which of them is shorter?",
    "What is longer, the Rhine or the Elbe?",
    "Is there a table?",
    "Who speaks German?",
    "How much longer does it last?",
    "add a table of the costs",
    "for a manager",
    "simpler",
    "Is it in German?",
    "shorter and longer",
    "in German or in French",
    "Thanks",
    "And the costs?",
    "Welcher ist kürzer?",
    "Was kostet es auf Deutsch?",
    "¿Cuál es más corto?",
    "Make a list of all German museums",
    "Could it be Spanish?",
    "Would it be Italian?",
    "Can I have Italian?",
    "Would it be longer?",
    "and the list?",
    "Can it be longer?",
    "Wäre es auf Deutsch länger?",
    "",
]


@pytest.mark.parametrize(("asked", "turn"), FORM, ids=[asked for asked, _ in FORM])
def test_words_for_form_alone_are_sure(asked: str, turn: Turn) -> None:
    assert sure_turn(asked) == turn


@pytest.mark.parametrize("asked", NOT_SURE)
def test_all_else_is_not(asked: str) -> None:
    assert sure_turn(asked) is None


@pytest.mark.parametrize(
    ("asked", "what"),
    [
        ("Add the costs", "the costs"),
        ("please also mention who built it", "who built it"),
        ("Could you add a table of the prices?", "a table of the prices?"),
        ("Ergänze bitte die Kosten", "bitte die Kosten"),
        ("ajoute les coûts", "les coûts"),
        ("What is added to it?", ""),
        ("Who adds the costs?", ""),
        ("Additives of bread", ""),
    ],
)
def test_what_shall_be_added_stands_behind_the_word_for_it(asked: str, what: str) -> None:
    assert requested_addition(asked) == what
