"""Words that ask are no subject of a question, in any language: pages need not hold them."""

from __future__ import annotations

import pytest

from spadework.agents.extractive.slot import Slot
from tests.agents.test_extractive_assessor import judged, page

MINUTES = "# 会议纪要\n\n三号楼的电梯原定5月更换，因为厂家缺货，推迟到8月20日。\n"

ASKED = {
    "de": {
        "Wann wurde der Leuchtturm gebaut?": ("date", {"leuchtturm", "gebaut"}),
        "Womit wird der Leuchtturm beheizt?": ("open", {"leuchtturm", "beheizt"}),
        "Wie hoch ist der Leuchtturm?": ("number", {"leuchtturm"}),
        "Wie viele Stufen hat der Leuchtturm?": ("number", {"leuchtturm", "stuf"}),
    },
    "fr": {
        "Qui a construit le phare ?": ("name", {"construit", "phar"}),
        "Quand le phare a-t-il été construit ?": ("date", {"construit", "phar"}),
        "Quelle est la hauteur du phare ?": ("number", {"phar"}),
        "Combien de marches a le phare ?": ("number", {"march", "phar"}),
    },
    "es": {
        "¿Cuándo se construyó el faro?": ("date", {"constru", "far"}),
        "¿Quién construyó el faro?": ("name", {"constru", "far"}),
        "¿Cuántos escalones tiene el faro?": ("number", {"escalon", "far"}),
    },
    "ru": {
        "Когда был построен маяк?": ("date", {"маяк", "постро"}),
        "Сколько стоит вход?": ("number", {"вход"}),
        "Какова высота маяка?": ("number", {"маяк"}),
        "Зачем построили маяк?": ("open", {"маяк", "постро"}),
    },
    "ja": {"灯台の高さは何メートルですか？": ("number", {"灯台", "高さ"})},
    "zh": {
        "灯塔是什么时候建成的？": ("date", {"灯塔", "建成"}),
        "门票多少钱？": ("number", {"门票"}),
    },
    "it": {"Chi ha costruito il faro?": ("name", {"costru", "far"})},
    "pt": {"Quanto custa a entrada?": ("number", {"entrad"})},
    "nl": {"Hoeveel kost de toegang?": ("number", {"toegang"})},
}


@pytest.mark.parametrize(
    ("code", "asked"), [(code, asked) for code, own in ASKED.items() for asked in own]
)
def test_words_that_ask_are_no_subject(code: str, asked: str) -> None:
    slot = Slot(asked, asked, code)
    assert (slot.kind, set(slot.words)) == ASKED[code][asked]


def test_chinese_words_may_stand_apart_in_the_answer() -> None:
    found = judged("三号楼电梯什么时候更换？", page("会议", MINUTES))
    assert found.covered
    assert "8月20日" in found.spots[0].quote


def test_the_chinese_word_that_no_page_holds_is_named() -> None:
    found = judged("三号楼游泳池什么时候更换？", page("会议", MINUTES))
    assert not found.covered
    assert "游泳池" in found.gaps[0]
    assert "楼" not in found.gaps[0]


def test_a_short_japanese_sentence_names_the_topic_of_the_next() -> None:
    minutes = "# 議事録\n\n1.夏祭りについて。会場の工事のため8月10日に変更する。予算は35万円。\n"
    found = judged("夏祭りはいつですか？", page("議事録", minutes))
    assert found.covered
    assert "8月10日" in found.spots[0].quote
