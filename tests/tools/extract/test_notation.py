"""Raised, lowered and stacked text in every reader: no figure becomes another one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from spadework.tools.extract import read_document
from spadework.tools.extract.html import extract
from spadework.tools.extract.notation import Place, joined
from spadework.tools.extract.office.equations import linear
from spadework.tools.extract.xml import xml_tree

_PROSE = "The works stand by the river and are open to visitors on two days of each month. " * 3


def web(content: str, head: str = "") -> str:
    page = f"<html><head><title>W</title>{head}</head><body><main>{content}<p>{_PROSE}</p></main>"
    return extract(page, "https://example.org/a.html").markdown


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ("holds 10<sup>6</sup> litres", "holds 10^6 litres"),
        ("bears 4.1×10<sup>-3</sup> bar", "bears 4.1×10^-3 bar"),
        ("<i>e</i><sup><i>x</i>+1</sup>", "*e*^(x+1)"),
        ("<i>mc</i><sup>2</sup>", "*mc*^2"),
        ("<code>2<sup>31</sup></code> bits", "`2^31` bits"),
        ("<b>H<sub>2</sub>O</b> and CO<sub>2</sub>", "**H2O** and CO2"),
        ("log<sub>2</sub>8 and x<sub>i+1</sub>", "log_2 8 and x_(i+1)"),
        ("<i>x<sub>1</sub></i>", "*x_1*"),
        ("<i>x</i><sub>1</sub><sup>2</sup>", r"*x*\_1^2"),
        ("2<sup>1</sup>&frasl;<sub>2</sub> cups", "2 1/2 cups"),
        ("the 19<sup>th</sup> century, Acme<sup>®</sup>", "the 19th century, Acme®"),
        ("e<sup>x<sup>2</sup></sup>", "e^(x^2)"),
        ("built in 1984<sup><a href='#n4'>4</a></sup> by", "built in 1984[4] by"),
        ("built in 1984<a href='#n4'><sup>4</sup></a> by", "built in 1984[4] by"),
        ("built in 1984<a href='#n4'>4</a> by", "built in 1984[4] by"),
        ("built in 1984<sup class=footnote-ref>4</sup> by", "built in 1984[4] by"),
        ("built in 1984<sup><a href='#a'>4</a>,<a href='#b'>5</a></sup>", "in 1984[4][5]"),
        ("in 1984<sup class=reference><a href='#c'>[4]</a></sup>", "in 1984[4]"),
        ("in 1984<sup>4</sup> by", "in 1984^4 by"),
        ("in 1984<span style='vertical-align:super'>4</span>", "in 1984^4"),
        ("It was built.<sup>4</sup> Later", "It was built.[4] Later"),
        ("<math><mfrac><mi>x</mi><mn>27</mn></mfrac></math> of it", "x/27 of it"),
        ("<math><mi>r</mi><mn>2</mn><mfoo/></math> of it", "[formula] of it"),
        ("<sup><img src=a.png></sup>none", "none"),
        ("10⁶ and 2½", "10⁶ and 2½"),
        ("2<span class=frac><span>13</span><span>27</span></span> bar", "2 13/27 bar"),
        ("<span style='display:block'>13</span><span style='display:block'>27</span>", "13 27"),
        ("<svg class=math role=img aria-label='E=mc^2'></svg> is", "$E=mc^2$ is"),
        (r"<svg><title>\frac{1}{2}</title></svg> of", r"$\frac{1}{2}$ of"),
        (r"<img alt='\frac{13}{27}' src='data:image/png;base64,AA'> of", r"$\frac{13}{27}$ of"),
        ("<img data-equation-content='x^2' src=/e.png> of", "$x^2$ of"),
        ("<img alt='The quay' src=/q.png><svg><title>Menu</title></svg> of it", "It of it"),
    ],
)
def test_a_page_keeps_its_powers_and_notes(html: str, shown: str) -> None:
    assert shown in web(f"<p>It {html}, as the sign at the gate says to everybody.</p>")


@pytest.mark.parametrize(
    "cells",
    [
        "<td>x = <td align=center>13<hr noshade>27 y<br><td>+ 4",
        "<td>x = <td><table><tr><td>13<tr><td class=hbar></td><tr><td>27 y</table><td>+ 4",
    ],
)
def test_a_fraction_that_a_table_stacks_is_one_line(cells: str) -> None:
    assert "x = 13/(27 y) + 4" in web(f"<p>{_PROSE}<table class=display><tr>{cells}</table>")


_MEDIAWIKI = (
    '<span class="mwe-math-element"><span class="mwe-math-mathml-inline" style="display: none;">'
    '<math><semantics><mrow><mi>x</mi></mrow><annotation encoding="application/x-tex">'
    "{{\\displaystyle {0}}}</annotation></semantics></math></span>"
    '<img class="mwe-math-fallback-image-inline" alt="{{\\displaystyle {0}}}" src="x.svg"></span>'
)


@given(st.lists(st.sampled_from([r"x^{2}", r"\frac{a}{b}", r"\alpha_{1}", "n+1"]), max_size=5))
def test_every_tex_annotation_is_written_once(formulas: list[str]) -> None:
    shown = web(
        "".join(
            f"<p>Let it be {_MEDIAWIKI.format(formula)} here, in case {place}.</p>"
            for place, formula in enumerate(formulas)
        )
    )
    assert re.findall(r"\$([^$]+)\$", shown) == formulas


@pytest.mark.parametrize(
    ("html", "shown"),
    [
        ('<img class="mwe-math-fallback-image-inline" alt="{\\displaystyle x^{2}}">', "$x^{2}$"),
        ('<img src="https://x.example/latex.php?x%5E2" alt="x^2">', "$x^2$"),
        ('<img class="eq" data-latex="x^2" alt="">', "$x^2$"),
        ('<span class="MathJax"><i>x2</i></span><script type="math/tex">x^2</script>', "$x^2$"),
        (
            '<span class="MathJax" data-mathml="&lt;math&gt;&lt;msup&gt;&lt;mi&gt;x&lt;/mi&gt;'
            '&lt;mn&gt;2&lt;/mn&gt;&lt;/msup&gt;&lt;/math&gt;">x2</span>',
            "x^2",
        ),
        ('<span class="katex-html">x2</span>', "[formula]"),
        (
            '<mjx-container class="MathJax"><svg data-mml-node="math"></svg>'
            "<mjx-assistive-mml><math><msup><mi>x</mi><mn>2</mn></msup></math></mjx-assistive-mml></mjx-container>",
            "x^2",
        ),
    ],
)
def test_what_draws_a_formula_is_read_by_its_source(html: str, shown: str) -> None:
    text = web(f"<p>So it is {html} that was to be shown to the people here.</p>")
    assert f"So it is {shown} that" in text


_SIGNS = st.text("0123456789abXY()+-. ", max_size=4)


@given(st.lists(st.tuples(_SIGNS, st.sampled_from(list(Place)[:4])), max_size=6))
def test_digits_with_markup_between_them_never_touch(pieces: list[tuple[str, Place]]) -> None:
    shown = joined(pieces)
    runs: list[str] = []
    last = None
    for text, place in pieces:
        if place == last or (runs and not text.strip()):
            runs[-1] += text
        elif text:
            runs.append(text)
            last = place
    allowed = {number for run in runs for number in re.findall(r"\d+", run)}
    assert set(re.findall(r"\d+", shown)) <= allowed
    assert re.sub(r"[\W_]", "", shown) == re.sub(r"[\W_]", "", "".join(runs))


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        ("<msqrt><mi>b</mi><mo>−</mo><mn>4</mn></msqrt>", "√(b−4)"),
        ("<mroot><mi>x</mi><mn>3</mn></mroot>", "x^(1/3)"),
        ("<mn>2</mn><mfrac><mn>1</mn><mn>2</mn></mfrac>", "2 1/2"),
        ("<mfrac><mn>1</mn><mrow><mn>2</mn><mi>a</mi></mrow></mfrac>", "1/(2a)"),
        ("<msubsup><mi>x</mi><mn>1</mn><mn>2</mn></msubsup>", "x_1^2"),
        ("<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><mi>i</mi>", "∑_i^n i"),
        ("<mn>3</mn><mn>4</mn>", "3 4"),
        ("<mfenced><mi>a</mi><mi>b</mi></mfenced>", "(a, b)"),
        ("<sSup><e><r><t>10</t></r></e><sup><r><t>-5</t></r></sup></sSup>", "10^-5"),
        ("<f><num><r><t>x-4</t></r></num><den><r><t>27</t></r></den></f>", "(x-4)/27"),
        ("<d><dPr/><e><r><t>n</t></r></e></d>", "(n)"),
        ("<msup><mi>x</mi></msup>", "[formula]"),
        ("<unheard><mi>x</mi></unheard>", "[formula]"),
    ],
)
def test_a_formula_stands_on_one_line(formula: str, shown: str) -> None:
    assert linear(xml_tree(f"<math>{formula}</math>".encode(), "formula")) == shown


@pytest.mark.parametrize(
    ("source", "kind", "shown"),
    [
        ("It holds 10<sup>6</sup> l of H<sub>2</sub>O.", "markdown", "holds 10^6 l of H2O."),
        ("In 1984<sup><a href='#n'>4</a></sup> it", "markdown", "In 1984[4] it"),
        ("In 1984[^4] it.\n\n[^4]: Of 1986.", "markdown", "In 1984[4] it.\n\n[4] Of 1986."),
        ("<p>It holds 10<sup>6</sup> l</p>", "markdown", "holds 10^6 l"),
        ("It holds 10\\ :sup:`6` l of H\\ :sub:`2`\\ O.", "x-rst", "holds 10^6 l of H2O."),
        ("In 1984\\ [#a]_ it.\n\n.. [#a] Of 1986.", "x-rst", "In 1984[a] it."),
        (r"{\rtf1\ansi It holds 10{\super 6} litres.\par}", "rtf", "holds 10^6 litres."),
        (r"{\rtf1\ansi Of H\sub 2\nosupersub O, 10\super -5\plain .\par}", "rtf", "Of H2O, 10^-5."),
    ],
)
def test_other_texts_keep_their_powers_and_notes(source: str, kind: str, shown: str) -> None:
    media_type = "application/rtf" if kind == "rtf" else f"text/{kind}"
    found = read_document(source.encode(), media_type=media_type, url="https://x.example/a")
    assert shown in found.markdown
