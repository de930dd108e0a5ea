"""Reads figures where markup stands between their digits: `python benchmarks/notation.py`.

Sixty formulas of four notations on ten pages, twelve PDFs with tables, and thirty office files with
charts, notes, comments and text boxes are made, read, and compared with what they were made of.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from itertools import count

from spadework.tools.extract import read_document
from tests.tools.extract.files import W, docx, drawn_pdf, odf, pptx, xlsx
from tests.tools.extract.test_office_parts import C, points
from tests.tools.extract.test_pdf_layout import half_ruled, prose, scripted, table, words

PAGES, PDFS, OFFICE = 10, 12, 30
URL = "https://example.org/a"


def read(body: bytes, media_type: str = "") -> str:
    """The Markdown of a document."""
    return read_document(body, media_type=media_type, url=URL).markdown


def formulas(chance: random.Random) -> list[tuple[str, str]]:
    """Six formulas as HTML, each with the text that must stand in the Markdown."""
    a, b, c, d = (str(chance.randrange(2, 99)) for _ in range(4))
    power = f"<math><mn>{a}</mn><mo>×</mo><msup><mn>10</mn><mn>{b}</mn></msup></math>"
    share = f"<math><mfrac><mi>x</mi><mn>{c}</mn></mfrac><mo>+</mo><mi>y</mi></math>"
    tex = rf"\frac{{{a}}}{{x^{{{d}}}}}"
    hidden = (
        '<span style="display: none"><math><semantics><mi>x</mi><annotation'
        f' encoding="application/x-tex">{{\\displaystyle {tex}}}</annotation></semantics></math>'
        f'</span><img class="mwe-math-fallback-image-inline" alt="{{\\displaystyle {tex}}}">'
    )
    script = f'<script type="math/tex">{tex}+{b}</script>'
    return [
        (f"{a}·10<sup>{b}</sup>", f"{a}·10^{b}"),
        (f"<i>x</i><sub>{c}</sub><sup>{d}</sup>", rf"*x*\_{c}^{d}"),
        (power, f"{a}×10^{b}"),
        (share, f"x/{c}+y"),
        (hidden, f"${tex}$"),
        (script, f"${tex}+{b}$"),
    ]


def formula_share(chance: random.Random) -> float:
    """The share of the formulas that stand in the Markdown, exactly once."""
    right = all_of = 0
    for _ in range(PAGES):
        made = formulas(chance)
        body = "".join(
            f"<p>Part {n} says that it is {html} here.</p>" for n, (html, _) in enumerate(made)
        )
        shown = read(f"<html><title>F</title><main>{body}</main></html>".encode(), "text/html")
        right += sum(shown.count(f"it is {text} here") == 1 for _, text in made)
        all_of += len(made)
    return right / all_of


def figures(chance: random.Random, rows: int, columns: int) -> list[list[str]]:
    """A table of names and figures."""
    forms = ("{:,.2f}", "{:d}", "-{:,d}", "{:.1f}%")
    head = ["Pier", *(f"Of {2000 + n}" for n in range(columns))]
    body = [
        [f"Pier {n}", *(chance.choice(forms[n % 2 * 2 :][:1]).format(chance.randrange(99_999))
                        for _ in range(columns))]
        for n in range(rows)
    ]  # fmt: skip
    return [head, *body]


def pdf_of(n: int, rows: list[list[str]], chance: random.Random) -> bytes:
    """The page of the n-th PDF: ruled, ruled in part, tight, turned, or a caption's columns."""
    step = chance.choice((64, 80, 100))
    across = [40, 110, *(110 + step * (place + 1) for place in range(len(rows[0]) - 1))]
    head = prose("The harbour office tells what every pier has let and earned. " * 3, 800)
    if n % 4 == 0:
        return head + table(rows, across=across, top=720)
    if n % 4 == 1:
        return head + half_ruled(rows, across, 720)
    if n % 4 == 2:
        page = head + table(rows, across=across, top=500)
        return b"q 0 1 -1 0 595 0 cm\n" + page + b"Q\n"
    caption = words("Table 1: What was let", 40, 720)
    cells = (
        words(cell, across[c], 700 - 16 * r)
        for r, row in enumerate(rows)
        for c, cell in enumerate(row)
    )
    return head + caption + b"".join(cells) + scripted("In 19", "th", " centuries", 60)


def pdf_shares(chance: random.Random) -> tuple[float, int]:
    """The share of rows whose figures stand on one line in order, and how many are glued."""
    right = all_of = glued = 0
    for n in range(PDFS):
        rows = figures(chance, chance.randrange(5, 24), chance.randrange(2, 5))
        shown = read(drawn_pdf(pdf_of(n, rows, chance)))
        lines = [re.sub(r"[\s|]+", " ", line) for line in shown.split("\n")]
        right += sum(any(" ".join(row) in line for line in lines) for row in rows)
        all_of += len(rows)
        known = {
            number for row in rows for cell in row for number in re.findall(r"\d[\d.,]*", cell)
        }
        glued += sum(
            number not in known | {"1", "19"} for number in re.findall(r"\d[\d.,]*\d|\d", shown)
        )
    return right / all_of, glued


def office_recall(chance: random.Random) -> float:
    """The share of the words of office files that stand in their Markdown."""
    found = all_of = 0
    for n in range(OFFICE):
        numbers = count(n * 1000)
        said: list[str] = []

        def word() -> str:
            said.append(f"w{next(numbers)}x")  # noqa: B023 - it is used up in this turn
            return said[-1]  # noqa: B023

        shown = read(_rtf_file(word) if n % 5 == 4 else _office_file(n % 5, word, chance))
        found += sum(one in shown for one in said)
        all_of += len(said)
    return found / all_of


def _rtf_file(word: Callable[[], str]) -> bytes:
    note, remark = (f"{{{name} {word()}}}" for name in (r"\footnote", r"\*\annotation"))
    box = rf"{{\shp{{\*\shpinst{{\shptxt {word()}\par}}}}}}"
    return rf"{{\rtf1\ansi {word()}{note}{remark} {word()}\par {box}}}".encode()


def _office_file(kind: int, word: Callable[[], str], chance: random.Random) -> bytes:
    series = "".join(
        f"<c:ser><c:tx><c:v>{word()}</c:v></c:tx><c:cat>{points(word(), word())}</c:cat>"
        f"<c:val>{points('41', '57.5')}</c:val></c:ser>"
        for _ in range(chance.randrange(1, 4))
    )
    title = f"<c:title><a:t>{word()}</a:t></c:title>"
    chart = f"<c:chartSpace {C}><c:chart>{title}{series}</c:chart></c:chartSpace>"
    if kind == 0:
        box = f"<w:txbxContent><w:p><w:r><w:t>{word()}</w:t></w:r></w:p></w:txbxContent>"
        note = f"<w:footnotes {W}><w:footnote w:id='2'><w:p><w:r><w:t>{word()}</w:t></w:r></w:p>"
        body = (
            f"<w:p><w:r><w:t>{word()}</w:t></w:r><w:r><w:footnoteReference w:id='2'/></w:r><w:r>"
            f"{box}</w:r><w:r><c:chart xmlns:c='c' r:id='r1'/></w:r></w:p>"
        )
        comment = (
            f"<w:comments {W}><w:comment><w:p><w:r><w:t>{word()}</w:t></w:r></w:p></w:comment>"
        )
        parts = {
            "charts/c.xml": chart,
            "footnotes.xml": f"{note}</w:footnote></w:footnotes>",
            "comments.xml": f"{comment}</w:comments>",
        }
        return docx(body, links={"r1": "charts/c.xml"}, parts=parts)
    comment = f"<c><cm><text>{word()}</text></cm><comment><p><t>{word()}</t></p></comment></c>"
    if kind == 1:
        shape = f"<p:sp><p:txBody><a:p><a:r><a:t>{word()}</a:t></a:r></a:p></p:txBody></p:sp>"
        frame = "<p:graphicFrame><c:chart xmlns:c='c' r:id='charts/c.xml'/></p:graphicFrame>"
        slide = {"charts/c.xml": chart, "comments/comment1.xml": comment.replace("comment>", "cm>")}
        return pptx([shape + frame], further=slide)
    if kind == 2:
        row = f'<row r="1"><c r="A1" t="inlineStr"><is><t>{word()}</t></is></c></row>'
        drawing = f"<d xmlns:r='r'><txBody><t>{word()}</t></txBody><chart r:id='c'/></d>"
        related = "<Relationships><Relationship Id='c' Target='../charts/c.xml'/></Relationships>"
        sheet = {
            "drawings/drawing1.xml": drawing,
            "drawings/_rels/drawing1.xml.rels": related,
            "charts/c.xml": chart,
            "comments1.xml": comment.replace("cm>", "comment>"),
        }
        return xlsx({word(): row}, further=sheet)
    item = f"<text:list-item><text:p>{word()}</text:p></text:list-item>"
    cell = f"<table:table-cell><text:list>{item}{item}</text:list></table:table-cell>"
    note = f"<text:note><text:note-body><text:p>{word()}</text:p></text:note-body></text:note>"
    remark = f"<office:annotation><text:p>{word()}</text:p></office:annotation>"
    table_of = f"<table:table><table:table-row>{cell}</table:table-row></table:table>"
    drawn = "<draw:object xmlns:draw='d' xmlns:xlink='x' xlink:href='./Object 1'/>"
    cells = f"<table><table-row><table-cell><p>{word()}</p></table-cell></table-row></table>"
    # The chart of the other kinds is no part of this one: its words are said in the text.
    told = " ".join(re.findall(r"w\d+x", chart + comment))
    return odf(
        f"<text:p>{told} {note}{remark}{drawn}</text:p>{table_of}",
        parts={"Object 1/content.xml": f"<d><chart><title>{word()}</title>{cells}</chart></d>"},
    )


def main() -> None:
    """Print the figures."""
    chance = random.Random(7)
    print(f"formulas  {formula_share(chance):.3f}")
    rows, glued = pdf_shares(chance)
    print(f"pdf rows  {rows:.3f}  glued {glued}")
    print(f"office    {office_recall(chance):.3f}")


if __name__ == "__main__":
    main()
