"""The address guard: which addresses are public, and what a URL must look like."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given, strategies as st

from spadework.errors import NotAllowed
from spadework.tools.fetch.guard import (
    MAX_URL_CHARS,
    check_url,
    is_http_url,
    is_public,
    may_connect,
    printable_url,
)

REFUSED_TEXT = """
    0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.0.1.1 127.255.255.254
    169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.88.99.1 192.168.0.1
    192.168.255.255 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.7 224.0.0.1 232.1.2.3 239.255.255.250 240.0.0.1
    255.255.255.255 168.63.129.16
    :: ::1 ::7f00:1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8
    64:ff9b::10.0.0.1 64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 64:ff9b:1::808:808 100::1
    2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1::1 2002:a00:1::
    2002:c0a8:101::1 2002:a9fe:a9fe:: 2606:4700::5efe:8.8.8.8 2606:4700::200:5efe:10.0.0.1 3fff::1 3fff:fff::1 4000::1 5f00::1
    fc00::1 fd00::1 fd00:ec2::254 fe80::1 fe80::5efe:192.168.0.1 fec0::1 feff::1 ff02::1 ff05::2 fe80::1%eth0 2606:4700::1111%eth0
"""  # noqa: E501

ALLOWED_TEXT = """
    1.1.1.1 8.8.8.8 9.9.9.9 11.0.0.1 93.184.215.14 100.63.255.255 100.128.0.1 126.255.255.255 128.0.0.1 169.253.255.255
    172.15.255.255 172.32.0.1 192.0.1.1 192.167.1.1 192.169.0.1 198.17.1.1 198.20.0.1 223.255.255.255 168.63.129.17
    2606:4700::1111 2001:4860:4860::8888 2a00:1450:4001::200e 2620:fe::fe 2400:cb00::1 ::ffff:8.8.8.8 64:ff9b::8.8.8.8
    2002:808:808::1 2a01:4f8::5eff:1
"""  # noqa: E501

REFUSED, ALLOWED = REFUSED_TEXT.split(), ALLOWED_TEXT.split()
NO_ADDRESS = [
    "",
    " ",
    "localhost",
    "example.com",
    "127.1",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "8.8.8.8 ",
    "8.8.8.8:80",
    "[::1]",
]


def test_the_table_is_long_enough():
    assert len(set(REFUSED)) >= 60
    assert len(set(ALLOWED)) >= 20


@pytest.mark.parametrize("address", REFUSED)
def test_special_addresses_are_not_public(address):
    assert not is_public(address)


@pytest.mark.parametrize("address", ALLOWED)
def test_ordinary_addresses_are_public(address):
    assert is_public(address)


@pytest.mark.parametrize("text", NO_ADDRESS)
def test_what_is_no_address_is_not_public(text):
    assert not is_public(text)


@given(st.ip_addresses(v=4))
def test_an_ipv4_inside_ipv6_is_judged_like_itself(inner: IPv4Address):
    number = int(inner)
    carried = [
        IPv6Address(0xFFFF << 32 | number),
        IPv6Address(0x64FF9B << 96 | number),
        IPv6Address(0x2002 << 112 | number << 80),
    ]
    assert {is_public(str(outer)) for outer in carried} == {is_public(str(inner))}


@given(st.ip_addresses())
def test_what_python_calls_private_is_never_public(address):
    if address.is_private and is_public(str(address)):
        inner = IPv6Address(address)
        assert inner.ipv4_mapped or inner.sixtofour or str(inner).startswith("64:ff9b::")


def test_an_owned_name_opens_itself_and_an_owned_address_opens_itself():
    owned = frozenset({"wiki.lan", "10.0.0.5"})
    assert may_connect("wiki.lan", "192.168.1.9", owned)
    assert not may_connect("evil.example", "192.168.1.9", owned)
    assert may_connect("10.0.0.5", "10.0.0.5", owned)
    assert not may_connect("10.0.0.6", "10.0.0.6", owned)
    assert may_connect("example.com", "1.1.1.1", frozenset())


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("http://Example.COM", "http://example.com/"),
        ("  https://example.com:443/a?b=c#d ", "https://example.com/a?b=c"),
        ("http://example.com:8080?q=1", "http://example.com:8080/?q=1"),
        ("http://example.com./x", "http://example.com/x"),
        (
            "https://bücher.example/ä ö?q=ü",
            "https://xn--bcher-kva.example/%C3%A4%20%C3%B6?q=%C3%BC",
        ),
        ("http://example.com/%7Ea/100%", "http://example.com/%7Ea/100%"),
        ("http://foo_bar.example/", "http://foo_bar.example/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0x7f000001/", "http://127.0.0.1/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://017700000001/", "http://127.0.0.1/"),
        ("http://127.1:81/", "http://127.0.0.1:81/"),
        ("http://127\u30020\u30020\u30021/", "http://127.0.0.1/"),
        ("http://\uff11\uff12\uff17.1/", "http://127.0.0.1/"),
        ("http://[0:0::0:1]/", "http://[::1]/"),
        ("http://[::ffff:127.0.0.1]:80/", "http://[::ffff:7f00:1]/"),
    ],
)
def test_a_url_gets_one_notation(url, normal):
    assert check_url(url) == normal
    assert check_url(normal) == normal
    assert is_http_url(url)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            "example.com",
            "/path",
            "//example.com/",
            "ftp://example.com/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,x",
        ),
        *(
            "http://",
            "http:///path",
            "http:example.com",
            "http://:80/",
            "http://example.com:0/",
            "http://example.com:99999/",
        ),
        *(
            "http://example.com:x/",
            "http://user@example.com/",
            "http://user:secret@example.com/",
            "http://exa mple.com/",
        ),
        *(
            "http://a\\@b.example/",
            "http://[::1",
            "http://[fe80::1%25eth0]/",
            "http://[v1.x]:1/",
            "http://1.2.3.4.5/",
            "http://256.1.1.1/",
        ),
        *(
            "http://1.2.3.400/",
            "http://a..b/",
            "http://%31.example/",
            "http://exa\x00mple.com/",
            "http://example.com:80:80/",
            "http://08/",
        ),
        *(
            "http://" + "a" * 64 + ".example/",
            "http://example.com/" + "a" * MAX_URL_CHARS,
            "http://\u2100.example/",
        ),
    ],
)
def test_what_is_no_fetchable_url_is_not_allowed(url):
    with pytest.raises(NotAllowed) as refusal:
        check_url(url)
    assert "secret" not in str(refusal.value)
    assert len(str(refusal.value)) < 300
    assert not is_http_url(url)


@given(st.text(max_size=60))
def test_any_text_is_either_normal_after_one_check_or_refused(text):
    url = "http://" + text
    if is_http_url(url):
        assert check_url(check_url(url)) == check_url(url)
        assert check_url(url).isascii()


def test_messages_show_no_secrets_of_a_url():
    assert printable_url("https://example.com/a?key=secret") == "https://example.com/a"
    assert "secret" not in printable_url("https://me:secret@example.com/a")
