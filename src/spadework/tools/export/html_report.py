"""The report as one self-contained HTML file: no script, no outside request; a marker opens the
card with its quote.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from spadework.tools.export.layout import laid_out
from spadework.tools.export.sheet import Run, Said, words
from spadework.values import Result


def to_html(result: Result) -> str:
    """The report of a result as an HTML document. What came from outside stands in it as text; only
    http(s) URLs are links.
    """
    return _environment().get_template("report.html").render(sheet=laid_out(result))


#: Where the templates are that the page of a session draws with, too.
DRAWN_IN = Path(__file__).parent

#: Characters of a last word that may stay on one line with its markers; scripts without spaces have
#: far longer "words".
MOST_KEPT = 24


def ending(said: Said) -> tuple[tuple[Run, ...], str]:
    """The runs of a sentence without its last word, and that word, which stays on one line with the
    markers.
    """
    if not said.runs or said.runs[-1].code or said.runs[-1].strength:
        return said.runs, ""
    start, space, last = said.runs[-1].text.rpartition(" ")
    return (
        ((*said.runs[:-1], Run(start + space)), last) if len(last) <= MOST_KEPT else (said.runs, "")
    )


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(DRAWN_IN),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"words": words, "ending": ending}
    return environment
