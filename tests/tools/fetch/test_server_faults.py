"""Faults of connections in words for a person."""

from __future__ import annotations

import ssl

import httpcore
import pytest

from spadework.errors import TooLarge, Unreadable
from spadework.tools.fetch.exchange import is_permanent, name_server, reason


def test_a_refusal_that_names_no_server_gets_its_page():
    error = name_server(
        TooLarge("The page is larger than 10 bytes", hint="Raise page_bytes."),
        "http://me:secret@example.com/a?key=1",
    )
    assert type(error) is TooLarge
    assert str(error) == "example.com/a: The page is larger than 10 bytes."
    assert error.hint == "Raise page_bytes."


def test_a_refusal_that_names_its_server_stays():
    error = Unreadable("http://example.com/a has no text to read.")
    assert name_server(error, "http://EXAMPLE.com/a") is error


@pytest.mark.parametrize(
    ("says", "words"),
    [
        ("illegal header line: bytearray(b'X: \\x00')", "one of its headers is malformed"),
        (
            "<StreamReset stream_id:3, error_code:7, remote_reset:True>",
            "the server broke off the response",
        ),
        ("[SSL: WRONG] oops (_ssl.c:1006)", "oops"),
        ("<_io.BytesIO object at 0x7f66> is odd", "is odd"),
        ("", "the connection ended"),
    ],
)
def test_the_insides_of_libraries_are_not_shown(says, words):
    assert reason(httpcore.RemoteProtocolError(says)) == words


def test_a_bad_certificate_is_a_lasting_fault():
    inner = ssl.SSLCertVerificationError(
        1, "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed (_ssl.c:1006)"
    )
    inner.verify_code, inner.verify_message = 10, "certificate has expired"
    error = httpcore.ConnectError("long words")
    error.__cause__ = inner
    assert is_permanent(error)
    assert reason(error) == "its certificate is not valid: certificate has expired"
    assert not is_permanent(httpcore.ConnectError("refused"))
