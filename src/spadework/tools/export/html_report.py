"""The report as one HTML file without scripts or requests; a marker opens its quote's card."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from spadework.tools.export.layout import laid_out
from spadework.tools.export.sheet import Run, Said, words
from spadework.values import Result


def to_html(result: Result) -> str:
    """Return the report as HTML. External content is escaped; only http(s) URLs become links."""
    return _environment().get_template("report.html").render(sheet=laid_out(result))


#: Folder of the templates, which the session page uses too.
DRAWN_IN = Path(__file__).parent
#: Maximum length of a last word kept with its markers; scripts without spaces have longer ones.
MOST_KEPT = 24


def split_last_word(said: Said) -> tuple[tuple[Run, ...], str]:
    """Split a sentence's last word off, to keep it with the markers; return the runs and the
    word.
    """
    if not said.runs or said.runs[-1].code or said.runs[-1].strength:
        return said.runs, ""
    start, space, last = said.runs[-1].text.rpartition(" ")
    if len(last) > MOST_KEPT:
        return said.runs, ""
    return (*said.runs[:-1], Run(start + space)), last


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(DRAWN_IN),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"words": words, "ending": split_last_word}
    return environment
