"""Hosts and addresses in any text."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from spadework.tools.web.urls import addresses, host_of, hosts_for_urls, inert_addresses


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://www.example.org:80/a", "www.example.org"),
        ("http://[broken/x", "http://[broken/x"),
        ("library://notes/a.md", "notes"),
        ("x", "x"),
    ],
)
def test_a_host_is_what_people_know(url: str, host: str) -> None:
    assert host_of(url) == host


def test_addresses_become_hosts() -> None:
    text = "See https://shop.example/buy?x=1, www.evil.example/now and boss@evil.example."
    assert hosts_for_urls(text) == "See shop.example, www.evil.example and boss@evil.example."
    assert addresses(text) == {
        "https://shop.example/buy?x=1",
        "www.evil.example/now",
        "boss@evil.example",
    }


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("http://localhost:5173", "localhost:5173"),
        ("https://docs.example/a/b.html?x=1#y", "docs.example/a/b.html?x=1#y"),
        ("https://bank.example@evil.example/", "evil.example"),
        ("https://a.example/?to=https://evil.example/", "a.example/?to=https:evil.example"),
        (
            "https://a.example/(http:a:////evil.example/b?d=1",
            "a.example/(http:a:evil.example/b?d=1",
        ),
        ("https://[bad/http://evil.example/z", "[bad/http:evil.example/z"),
        ("www.evil.example/now", "evil.example/now"),
        ("http://a.example/" + 200 * "b", "a.example/" + 90 * "b" + "…"),
    ],
)
def test_an_address_that_cannot_be_followed_still_says_where(address: str, told: str) -> None:
    assert inert_addresses(f"Open {address}, then wait.") == f"Open {told}, then wait."


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    host_of(text)
    inert_addresses(text)
    assert (
        "http://" not in hosts_for_urls(f"{text} http://a.example/b").lower()
        or "http://" in text.lower()
    )
