"""What stands on the pages of the zoo."""

from __future__ import annotations

from tests.world.zoo.animal import read

#: In every page that is to be read.
WORDS = "was first lit on 3 October 1887"
LAST = "watched from the harbour office four kilometres away"

ARTICLE = (
    "<article><h1>The light of Port Aldermere</h1><p>The lighthouse of Port Aldermere is 41 metres"
    f" tall and {WORDS}. It has burned whale oil, paraffin and electricity in turn, and its lens"
    " was ground in a town that no map shows any more.</p><p>Since 1992 nobody has lived in it,"
    f" and the lamp is {LAST}.</p></article>"
)
PAGE = f"<!doctype html><html><head><title>The light</title></head><body>{ARTICLE}</body></html>"
TEXT = (
    f"The lighthouse of Port Aldermere is 41 metres tall and {WORDS}. Since 1992 nobody has lived"
    f" in it, and the lamp is {LAST}."
)

#: What is expected of an animal that serves PAGE.
WHOLE = read(WORDS, LAST)


def page(body: str, head: str = "") -> str:
    """A page with a body and a head."""
    return (
        "<!doctype"
        f" html><html><head>{head or '<title>The light</title>'}</head><body>{body}</body></html>"
    )
