"""Pictures are known by their first bytes, and shown beside their captions in every format."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import docx
import pytest
from lxml import html
from pydantic import ValidationError

from spadework.tools.export import html_report
from spadework.tools.export.docx_report import to_docx
from spadework.tools.export.html_report import to_html, to_pdf
from spadework.tools.export.sheet import PICTURE_FOLDER, Header, header_of
from spadework.values import CoveredTopic, Picture, Report, Result, Section, Sentence
from tests.tools.export.painted import gif, jpeg, png, webp
from tests.tools.export.results import WEB, evidence, result, source
from tests.tools.export.rich import on_the_page

CAPTION = 'Figure 1: the <b>breakwater</b> & "lamp" from the air.'


def pictured(folder: Path, data: bytes, ending: str = "png") -> Result:
    """A report with a picture, stored in `folder`."""
    name = f"{'0' * 64}.{ending}"
    (folder / PICTURE_FOLDER).mkdir()
    (folder / PICTURE_FOLDER / name).write_bytes(data)
    ledger = (evidence("E1", "Piers", "The breakwater is 840 m long.", WEB),)
    topics = (CoveredTopic(name="Piers", covered=True, score=1.0, evidence=ledger),)
    said = (Sentence(text="It is 840 m long.", evidence_ids=("E1",)),)
    sections = (Section(heading="Summary", kind="summary", sentences=said),)
    sections += (Section(heading="Piers", sentences=said),)
    known = (source(1, WEB, "Piers", "example.org"),)
    whole = result(Report(title="How long is it?", sections=sections), topics, known)
    shown = Picture(url=f"{WEB}/a.png", page=WEB, caption=CAPTION, evidence_id="E1", name=name)
    changes = {"pictures": (shown,), "session_dir": str(folder)}
    return whole.model_copy(update=changes)


@pytest.mark.parametrize(
    ("data", "format_"),
    [
        (png(), "png"),
        (gif(), "gif"),
        (jpeg(), "jpeg"),
        (webp("VP8X"), "webp"),
        (webp("VP8L"), "webp"),
        (webp("VP8 "), "webp"),
    ],
)
def test_a_picture_is_known_by_its_first_bytes(data: bytes, format_: str) -> None:
    assert header_of(data) == Header(format_, 320, 200)


@pytest.mark.parametrize("make", [png, gif, jpeg, webp])
def test_the_start_of_a_header_is_no_picture(make: type[bytes]) -> None:
    whole = make()
    for length in range(len(whole)):
        assert header_of(whole[:length]) in (None, header_of(whole))


@pytest.mark.parametrize(
    "data",
    [
        png(30_000, 30_000, whole=False),
        gif(65_535, 65_535),
        jpeg(65_535, 65_535),
        webp("VP8X", 16_000_000, 16_000_000),
        b"\xff\xd8" + b"\xff" * 900_000,
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"BM" + bytes(200),
        b"",
    ],
    ids=["png", "gif", "jpeg", "webp", "filling", "svg", "bmp", "empty"],
)
def test_huge_and_foreign_pictures_are_refused(data: bytes) -> None:
    assert header_of(data) is None


@pytest.mark.parametrize("name", ["../../etc/passwd", f"{'0' * 64}.svg", f"{'0' * 64}.png\n"])
def test_a_picture_cannot_name_another_file(name: str, tmp_path: Path) -> None:
    told = pictured(tmp_path, png()).pictures[0].model_dump()
    with pytest.raises(ValidationError):
        Picture.model_validate(told | {"name": name})


@pytest.mark.parametrize("page", [True, False])
def test_a_picture_stands_in_the_section_of_its_quote(tmp_path: Path, page: bool) -> None:
    report = pictured(tmp_path, png())
    drawn = on_the_page(report) if page else html.document_fromstring(to_html(report))
    [figure] = drawn.xpath("//figure[@class='picture']")
    assert figure.xpath("ancestor::section/h2")[0].text_content() == "Piers"
    image = figure.find("img")
    assert (image.get("alt"), image.get("width"), image.get("height")) == (CAPTION, "320", "200")
    start = "/s/s/pictures/000" if page else "data:image/png;base64,iVBOR"
    assert image.get("src").startswith(start)
    assert CAPTION in figure.findtext("figcaption/span") or CAPTION in figure.text_content()
    assert "example.org" in figure.text_content()
    assert figure.xpath(".//button/@popovertarget") == ["card-1"]


def test_a_picture_that_is_gone_leaves_the_report_whole(tmp_path: Path) -> None:
    report = pictured(tmp_path, png())
    for file in (tmp_path / PICTURE_FOLDER).iterdir():
        file.unlink()
    assert "<figure" not in to_html(report)
    assert not on_the_page(report).xpath("//figure")
    assert docx.Document(BytesIO(to_docx(report))).inline_shapes._inline_lst == []


@pytest.mark.parametrize(
    ("width", "height", "inches"),
    [(320, 200, (4.44, 2.78)), (4_000, 2_500, (6, 3.75)), (600, 6_000, (0.8, 8))],
    ids=["small", "wide", "tall"],
)
def test_word_has_the_picture_with_its_caption(
    tmp_path: Path, width: int, height: int, inches: tuple[float, float]
) -> None:
    document = docx.Document(BytesIO(to_docx(pictured(tmp_path, png(width, height)))))
    [shape] = document.inline_shapes
    assert (shape.width.inches, shape.height.inches) == pytest.approx(inches, rel=0.01)
    assert shape._inline.docPr.get("descr") == CAPTION
    assert f"{CAPTION} [1] example.org" in [each.text for each in document.paragraphs]


@pytest.mark.parametrize(
    ("data", "ending"),
    [(webp(), "webp"), (b"\xff\xd8" + jpeg()[20:], "jpeg"), (png()[:30], "png")],
    ids=["webp", "bare jpeg", "cut png"],
)
def test_word_leaves_out_what_it_cannot_show(tmp_path: Path, data: bytes, ending: str) -> None:
    document = docx.Document(BytesIO(to_docx(pictured(tmp_path, data, ending))))
    assert len(document.inline_shapes) == 0
    assert "It is 840 m long. [1]" in [each.text for each in document.paragraphs]


@pytest.mark.parametrize("rootly", [True, False])
def test_a_browser_without_its_sandbox_gets_no_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rootly: bool
) -> None:
    printed: list[str] = []

    def run(command: list[str], seconds: float) -> None:
        page = Path(command[-1].removeprefix("file://"))
        printed.append(page.read_text())
        page.with_name("report.pdf").write_bytes(b"%PDF")

    monkeypatch.setattr(html_report, "find_chromium", lambda: "chromium")
    monkeypatch.setattr(html_report, "runs_as_root", lambda: rootly)
    monkeypatch.setattr(html_report, "_run", run)
    to_pdf(pictured(tmp_path, png()))
    assert ("data:image/png" in printed[0]) is not rootly
