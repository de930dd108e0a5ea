"""Twins of a URL have one key, different pages have different keys, and no text is an error."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given, strategies as st

from spadework.tools.web.urls import addresses, canonical_url, domain_of, is_official


@pytest.mark.parametrize(
    "twin",
    [
        "http://example.org/a/b?x=1&y=2",
        "HTTPS://EXAMPLE.ORG/a/b?x=1&y=2",
        "http://example.org:80/a/b?x=1&y=2",
        "https://example.org:443/a/b/?x=1&y=2",
        "https://www.example.org/a/b?y=2&x=1",
        "https://m.example.org/a/b?x=1&y=2#part",
        "https://mobile.example.org./a/b?x=1&y=2#:~:text=words",
        "https://amp.example.org/a/b?x=1&y=2&amp=1",
        "https://example.org/a/b/amp?x=1&y=2",
        "https://example.org/amp/a/b?x=1&y=2",
        "https://www.google.com/amp/s/www.example.org/a/b?x=1&y=2",
        "https://example-org.cdn.ampproject.org/c/s/example.org/a/b?x=1&y=2",
        "https://example.org/a/b?utm_source=news&x=1&gclid=3&y=2&fbclid=4&utm_Campaign=5&mc_eid=6",
        "https://example.org/a/./c/../b?&x=1&&y=2",
        "https://example.org/%61/b?x=1&y=2",
        "https://someone:secret@example.org/a/b?x=1&y=2",
        "  https://example.org/a/b?x=1&y=2\n",
    ],
)
def test_twins_have_one_key(twin: str):
    assert canonical_url(twin) == "https://example.org/a/b?x=1&y=2"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.org", "https://example.org/"),
        ("https://en.m.wikipedia.org/wiki/AMP", "https://en.wikipedia.org/wiki/AMP"),
        ("https://example.org/story.amp.html", "https://example.org/story.html"),
        ("http://127.0.1.18:9080/wiki/A/", "http://127.0.1.18:9080/wiki/A"),
        ("http://127.0.0.1:80/a", "http://127.0.0.1/a"),
        ("http://[2001:DB8::1]:8080/a/", "http://[2001:db8::1]:8080/a"),
        ("http://localhost/a", "http://localhost/a"),
        ("http://example.org:8080/a", "http://example.org:8080/a"),
        ("https://münchen.de/straße?q=ä b", "https://xn--mnchen-3ya.de/stra%C3%9Fe?q=%C3%A4%20b"),
        ("https://example.org/a%2fb%7e%zz", "https://example.org/a%2Fb~%25zz"),
        ("https://m.dev/", "https://m.dev/"),
        ("https://www.co.uk/a", "https://www.co.uk/a"),
        ("library://python-3.11/Library Docs/a.md#part", "library://python-3.11/Library Docs/a.md"),
        ("library://X/A/?utm_source=x", "library://X/A/?utm_source=x"),
        ("mailto:a@b.org", "mailto:a@b.org"),
        ("http://example.org:99999/", "http://example.org:99999/"),
        ("http://[::1/", "http://[::1/"),
        ("no url at all", "no url at all"),
        ("", ""),
    ],
)
def test_other_urls_have_the_key_they_should(url: str, key: str):
    assert canonical_url(url) == key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://example.org/a", "https://example.org/A"),
        ("https://example.org/?p=1", "https://example.org/?p=2"),
        ("https://example.org/?a=1&a=2", "https://example.org/?a=2&a=1"),
        ("https://blog.example.org/", "https://example.org/"),
        ("http://example.org:8080/", "https://example.org:8080/"),
        ("https://example.org/a%2Fb", "https://example.org/a/b"),
        ("https://github.com/a/b?ref=main", "https://github.com/a/b?ref=dev"),
    ],
)
def test_different_pages_have_different_keys(one: str, other: str):
    assert canonical_url(one) != canonical_url(other)


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://docs.python.org/3/", "python.org"),
        ("https://a.b.example.co.uk:8443/x", "example.co.uk"),
        ("https://www.abs.gov.au/", "abs.gov.au"),
        ("https://someone.github.io/project", "someone.github.io"),
        ("http://WWW.Example.COM.", "example.com"),
        ("http://127.0.1.18:9080/wiki", "127.0.1.18"),
        ("http://[2001:DB8::1]:8080/", "2001:db8::1"),
        ("http://localhost:8000/", "localhost"),
        ("http://wiki.intranet.internal/", "intranet.internal"),
        ("https://münchen.de/", "xn--mnchen-3ya.de"),
        ("example.org/no/scheme", "example.org"),
        ("library://python-3.11/library/os.md#x", "python-3.11"),
        ("library://My Notes/a.md", "My Notes"),
        ("library://", ""),
        ("http://[::1/", ""),
        ("", ""),
    ],
)
def test_a_url_belongs_to_its_registered_domain(url: str, domain: str):
    assert domain_of(url) == domain


_PARTS = st.sampled_from(
    (
        *(
            "http://",
            "https://",
            "library://",
            "www.",
            "m.",
            "amp",
            "/amp",
            "/",
            "..",
            ".",
            "%",
            "%7E",
            "%2e",
            "a",
            "B",
            "example.org",
        ),
        *(
            "co.uk",
            "1.2.3.4",
            ":80",
            ":443",
            "?",
            "&",
            "utm_x=1",
            "=",
            "#",
            "@",
            "[",
            "]",
            "é",
            "\uff0e",
            "//",
            "google.com/amp/s/",
        ),
        *(".html", ".amp", " "),
    )
)
_URLS = st.one_of(
    st.text(),
    st.text(st.characters(exclude_categories=())).map("http://".__add__),
    st.lists(_PARTS, max_size=12).map("".join),
    st.lists(_PARTS, max_size=12).map(lambda parts: "http://" + "".join(parts)),
)


@given(_URLS)
@example("http://x/%%37E")
@example("http://amp..0")
@example("http://a/...amp")
def test_a_key_is_its_own_key(url: str):
    key = canonical_url(url)
    assert canonical_url(key) == key
    assert isinstance(domain_of(url), str)


@given(
    st.lists(st.sampled_from(["a=1", "b=2", "c", "d=", "e=5"]), unique=True).flatmap(
        lambda ps: st.tuples(st.just(ps), st.permutations(ps))
    )
)
def test_the_order_of_parameters_does_not_matter(orders: tuple[list[str], list[str]]):
    one, other = ("https://example.org/?" + "&".join(order) for order in orders)
    assert canonical_url(one) == canonical_url(other)


@pytest.mark.process
def test_domains_are_known_without_asking_the_network():
    code = (
        "import os, sys; sys.addaudithook(lambda event, _: event.startswith('socket.') and"
        " os._exit(3))\n"
    )
    code += "from spadework.tools.web.urls import domain_of; print(domain_of('http://a.b.co.jp'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (0, "b.co.jp\n")


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "part", ["/", "/amp", ".amp", "%", "..", "/../", "a=1&", "google.com/amp/"]
)
def test_no_url_keeps_us_busy(part: str):
    for length in (3_900, 300_000):
        url = "https://example.org/" + part * (length // len(part)) + "x"
        assert canonical_url(canonical_url(url)) == canonical_url(url)


@pytest.mark.timeout(20)
def test_mail_addresses_are_found_in_a_text_of_any_length():
    assert addresses("a" * 300_000 + ".") == set()
    assert addresses(f"{'a' * 300_000} or (me+you@mail.example.org).") == {
        "me+you@mail.example.org"
    }


@pytest.mark.parametrize(
    ("host", "official"),
    [
        ("www.nist.gov", True),
        ("gov.uk", True),
        ("service.gov.uk", True),
        ("www.mofa.go.jp", True),
        ("bmf.gv.at", True),
        ("www.who.int", True),
        ("www.port.mil", True),
        ("www.port.go.it", False),  # a province of Italy
        ("gov", False),  # a folder of one's own
        ("gov.example.com", False),
        ("www.mit.edu", False),
        ("127.0.1.1", False),
    ],
)
def test_only_suffixes_reserved_for_states_are_official(host: str, official: bool):
    assert is_official(host) is official
