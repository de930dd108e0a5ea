"""Faults of servers for a person: which page, what was wrong, no insides of libraries."""

from __future__ import annotations

import re
import ssl

from spadework.errors import FetchError
from spadework.tools.fetch.guard import printable_url

#: The longest reason of a library that is shown.
MAX_CHARS = 150
#: What the libraries of HTTP say, and what is meant.
_MEANT = (
    ("Server disconnected", "the connection ended before the answer began"),
    ("without sending complete message", "the connection ended in the middle"),
    ("Receive buffer too long", "its headers are too long"),
    ("illegal status line", "it does not begin like HTTP"),
    ("illegal header line", "one of its headers is malformed"),
    ("illegal chunk header", "one of its chunks has no size"),
    ("status_code should be", "its status is none of HTTP"),
    ("_SWITCH_UPGRADE", "it changes to a protocol nobody asked for"),
    ("StreamReset", "the server broke it off"),
    ("ConnectionTerminated", "the server ended the connection"),
)
#: What in libraries' messages says nothing to a person: places in code, bytes, objects.
_INSIDES = re.compile(
    r"\s*\(_ssl\.c:\d+\)|\[SSL(?:: \w+)?\] ?|:? ?bytearray\(.*|<\w[^>]*>", re.DOTALL
)
#: What OpenSSL calls a certificate whose authority it does not know.
_UNKNOWN = (18, 19, 20, 21)
_HOST = re.compile(r"//(?:[^/?#]*@)?([^/?#@]+)")


def name_server(error: FetchError, url: str) -> FetchError:
    """The refusal with the server of `url`: readers and limits do not know whose page it is."""
    words, host = str(error), _HOST.search(url)
    if host and host[1].lower() in words.lower():
        return error
    full = f"{printable_url(url)}: {words}"
    made = type(error)(full if full.endswith((".", "!", "?")) else f"{full}.")
    made.__dict__.update(error.__dict__)
    return made


def reason(error: BaseException) -> str:
    """What broke a connection, in a few words; "the connection ended" if nothing is said."""
    secure = _of_tls(error)
    if isinstance(secure, ssl.SSLCertVerificationError):
        own = "; name an authority of your own in SSL_CERT_FILE" * (secure.verify_code in _UNKNOWN)
        return f"its certificate is not good: {secure.verify_message.strip(' .')}{own}"
    if secure is not None:
        kind = (secure.reason or "unknown").replace("_", " ").lower()
        return f"it speaks no TLS that is understood ({kind})"
    words = str(error)
    meant = next((meaning for sign, meaning in _MEANT if sign in words), "")
    return meant or _INSIDES.sub("", words)[:MAX_CHARS].strip(" .:") or "the connection ended"


def certificate_fault(error: BaseException) -> str:
    """Return what is wrong with a certificate, "" where none is at fault."""
    return reason(error) if lasting(error) else ""


def lasting(error: BaseException) -> bool:
    """True if the next request would meet it, too: certificates get no better in a second."""
    return isinstance(_of_tls(error), ssl.SSLCertVerificationError)


def _of_tls(error: BaseException) -> ssl.SSLError | None:
    """The fault of TLS behind an error, if that is its cause."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLError):
        cause = cause.__cause__ or cause.__context__
    return cause
