"""What a question compares, and in what, read from how its things are joined."""

from __future__ import annotations

import pytest

from spadework.agents.extractive.comparison import compared


@pytest.mark.parametrize(
    ("question", "code", "sides", "by"),
    [
        ("Compare salt, sand, silt and clay", "en", "salt | sand | silt | clay", ""),
        ("Compare A, B, and C.", "en", "A | B | C", ""),
        ("How do nets, hooks and traps differ in cost?", "en", "nets | hooks | traps", "cost"),
        ("Quillon vs. Ferrolite vs. Marrow", "en", "Quillon | Ferrolite | Marrow", ""),
        ("How does tin compare with lead, zinc and iron?", "en", "tin | lead | zinc | iron", ""),
        (
            "Compare nets and hooks for cod, hake and eels",
            "en",
            "nets | hooks",
            "cod, hake and eels",
        ),
        ("Compare nets and hooks, and say which is better", "en", "nets | hooks", ""),
        (
            "Compare the price and weight of nets and hooks",
            "en",
            "nets | hooks",
            "price and weight",
        ),
        (
            "What are the differences in price between nets and hooks?",
            "en",
            "nets | hooks",
            "price",
        ),
        ("advantages of nets over hooks", "en", "nets | hooks", "advantages"),
        ("Compare fishing in Aldermere and Heron", "en", "fishing in Aldermere | Heron", ""),
        ("Compare life in Heron and work in Heron", "en", "life in Heron | work in Heron", ""),
        ("Vergleiche Netze, Haken und Reusen nach Preis", "de", "Netze | Haken | Reusen", "Preis"),
        ("Vergleiche Fluss- und Seehäfen mit Werften", "de", "Fluss- und Seehäfen | Werften", ""),
        (
            "Was sind die Vor- und Nachteile von Netzen gegenüber Haken?",
            "de",
            "Netzen | Haken",
            "Vor- und Nachteile",
        ),
    ],
)
def test_sides_and_what_they_are_looked_at_for(
    question: str, code: str, sides: str, by: str
) -> None:
    found = compared(question, code)
    assert found
    assert (" | ".join(found.sides), found.by) == (sides, by)


@pytest.mark.parametrize("question", ["Compare", "vs", "difference between and", "Who won?"])
def test_nothing_is_compared_where_a_side_is_missing(question: str) -> None:
    assert compared(question, "en") is None
