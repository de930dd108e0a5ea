"""Reports without a model keep the form of what they quote: steps stay numbered."""

from __future__ import annotations

import io
from pathlib import Path

import docx
import pytest
from lxml import html

from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.tools.export.docx_report import to_docx
from spadework.tools.export.html_report import to_html
from spadework.values import Result

NOTES = """# Quillon

Quillon is a wind-up radio that is sold by the makers of the Aldermere ferry.

## How to run Quillon locally

1. Install the winder.
2. Run `quillon up`.
3. Open the lid of Quillon.
"""
STEPS = ["Install the winder.", "Run quillon up.", "Open the lid of Quillon."]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "quillon.md").write_text(NOTES)
    return Settings.load(library=(tmp_path / "notes",), search="library", iterations=1)


async def _asked(settings: Settings, question: str) -> Result:
    result = await research(question, settings)
    assert result.mode == "extractive"
    return result


async def test_steps_that_are_quoted_in_order_stay_numbered(settings: Settings) -> None:
    result = await _asked(settings, "How do I run Quillon locally?")
    assert "1. Install the winder. [1]\n2. Run `quillon up`. [1]\n3. Open the" in result.report
    page = html.fromstring(to_html(result))
    marked = page.xpath("//main//ol[not(li/@value)]/li")
    assert [one.text_content().split("[")[0].strip() for one in marked] == STEPS
    read = docx.Document(io.BytesIO(to_docx(result)))
    numbered = [p.text for p in read.paragraphs if p.style and p.style.name == "List Number"]
    assert [text.split("[")[0].strip() for text in numbered] == STEPS
