"""Hosts and addresses in any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.tools.web.urls import addresses, host_of, hosts_for_urls


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


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    host_of(text)
    assert (
        "http://" not in hosts_for_urls(f"{text} http://a.example/b").lower()
        or "http://" in text.lower()
    )
