"""Which context of a quote a prompt shows."""

from __future__ import annotations

from datetime import UTC, datetime

from spadework.agents.report.material import entries_of
from spadework.values import Evidence


def entry(quote: str, **fields: str) -> Evidence:
    read = {"fetched_at": datetime.now(UTC), "origin": "library"}
    about = {"title": "The lamp of Carn Point", "url": "library://notes/carn-point-lamp.md"}
    return Evidence.model_validate(
        {"id": "E1", "topic": "lamp", "quote": quote, "content_hash": quote, **about, **fields}
        | read
        | {"start": 0, "end": len(quote), "kind": "text"}
    )


def test_a_claim_is_shown_only_where_it_says_more_than_what_stands_there() -> None:
    quote = "The lamp of Carn Point was lit in 1887."
    [alike] = entries_of([entry(quote, claim="Carn Point's lamp was lit in 1887.")])
    [more] = entries_of([entry("It was lit in 1887.", claim="The lamp of Sker was lit in 1887.")])
    assert (alike.claim, more.claim) == ("", "The lamp of Sker was lit in 1887.")


def test_a_neighbour_is_shown_only_where_one_leans_on_the_other() -> None:
    around = {"before": "The keeper came in May.", "after": "A storm followed."}
    [alone] = entries_of([entry("The lamp was lit in 1887.", **around)])
    [leans] = entries_of([entry("However, it was dark by 1890.", **around)])
    [undone] = entries_of([entry("The lamp was lit.", after="However, it failed at once.")])
    assert (alone.before, alone.after) == ("", "")
    assert (leans.before, leans.after) == ("The keeper came in May.", "")
    assert undone.after == "However, it failed at once."


def test_the_line_of_a_page_has_one_of_many_authors_and_no_name_twice() -> None:
    many = "Jory Penhallow and Ada Roe and Tom Vane"
    [made] = entries_of([entry("The lamp was lit in 1887.", author=many)])
    assert made.about == "The lamp of Carn Point · Jory Penhallow et al. · notes"
    [two] = entries_of(
        [entry("It was lit.", author="Ada Roe and Tom Vane", url="library://n/minutes.md")]
    )
    assert two.about == "The lamp of Carn Point · Ada Roe and Tom Vane · n/minutes.md"
