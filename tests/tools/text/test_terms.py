"""The words of a text, in any script, are its terms."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from spadework.tools.text.language import codes, language
from spadework.tools.text.terms import terms

SPACED = [code for code in codes() if not language(code).unspaced]
UNSPACED = [code for code in codes() if language(code).unspaced]
some_code = st.sampled_from([*codes(), "ko", "ar", ""])


@pytest.mark.parametrize(
    ("text", "code", "found"),
    [
        ("The cats are installing it.", "en", ["cat", "instal"]),
        ("C++ and gpt-5 with node.js", "en", ["c++", "gpt-5", "node", "js"]),
        ("Die Häuser in den Städten", "de", ["haus", "stadt"]),
        ("L’eau qu’il a bue, l'océan", "fr", ["eau", "bu", "océan"]),
        ("Las casas de los pueblos", "es", ["cas", "puebl"]),
        ("L'acqua dell’isola", "it", ["acqua", "isol"]),
        ("As casas dos povos", "pt", ["cas", "pov"]),
        ("De huizen van het dorp", "nl", ["huis", "dorp"]),
        ("Дома и города в стране", "ru", ["дом", "город", "стран"]),
        ("日本の首都はどこですか", "ja", ["日本", "首都"]),
        ("Python 3.12で非同期", "ja", ["python", "3", "12", "非同", "同期"]),
        ("中国的首都是哪里？", "zh", ["中国", "首都"]),
        ("的桥", "zh", ["桥"]),
        ("ＡＢＣ１２", "zh", ["abc12"]),
        ("한국어 문장", "ko", ["한국", "국어", "문장"]),
        ("हिन्दी भाषा।", "hi", ["हिन्दी", "भाषा"]),
        ("عاصمة مصر؟", "ar", ["عاصمة", "مصر"]),
        ("the 人工智能 book", "en", ["人工", "工智", "智能", "book"]),
        ("cafe\u0301s", "", ["cafés"]),
    ],
)
def test_the_terms_of_a_text(text: str, code: str, found: list[str]) -> None:
    assert terms(text, code) == found


@pytest.mark.parametrize("code", SPACED)
def test_function_words_are_no_terms(code: str) -> None:
    words = [word for word in sorted(language(code).stop) if "." not in word]
    assert terms(" ".join(words), code) == terms(" ".join(words).upper(), code) == []


@pytest.mark.parametrize("code", UNSPACED)
@given(data=st.data())
def test_runs_without_spaces_hold_no_function_word(code: str, data: st.DataObject) -> None:
    stop = language(code).stop
    pieces = st.one_of(
        st.sampled_from(sorted(stop)), st.sampled_from(["首都", "橋", "Python", "3"])
    )
    text = "".join(data.draw(st.lists(pieces)))
    assert not {term for term in terms(text, code) if any(word in term for word in stop)}


@given(st.text(), some_code)
def test_any_text_has_terms(text: str, code: str) -> None:
    found = terms(text, code)
    assert all(term and not term.isspace() for term in found)


@given(st.lists(st.text(), max_size=4), some_code)
def test_terms_keep_the_order_of_the_text(parts: list[str], code: str) -> None:
    assert terms("\n;\n".join(parts), code) == [
        term for part in parts for term in terms(part, code)
    ]


@pytest.mark.parametrize("text", ["首" * 50_000, "a'" * 50_000, "c+" * 50_000, "का" * 50_000])
def test_hostile_text_is_no_burden(text: str) -> None:
    assert terms(text, "zh")


@pytest.mark.parametrize(
    ("raised", "plain"), [("10⁶", "10^6"), ("1961³", "1961^3"), ("2½", "2 1/2"), ("1₂", "1_2")]
)
def test_a_raised_figure_is_no_part_of_the_one_before_it(raised: str, plain: str) -> None:
    found = list(terms(f"a dose of {raised} cells", "en"))
    assert found == list(terms(f"a dose of {plain} cells", "en"))
    assert not {"106", "19613", "21", "12"} & set(found)
