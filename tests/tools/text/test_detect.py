"""The language of a text is seen from its script and its function words."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from spadework.tools.text.language import codes, language_of, spoken

PARAGRAPHS = {
    "en": "The bridge was opened in the spring, after four years of work, and it carries both the"
    " railway and a road. Most of those who use it live on the other side of the river.",
    "de": "Die Brücke wurde im Frühjahr nach vier Jahren Bauzeit eröffnet und trägt sowohl die"
    " Eisenbahn als auch eine Straße. Die meisten, die sie nutzen, wohnen am anderen Ufer.",
    "fr": "Le pont a été ouvert au printemps après quatre ans de travaux, et il porte à la fois le"
    " chemin de fer et une route. La plupart de ceux qui l’empruntent habitent l’autre rive.",
    "es": "El puente se abrió en primavera, después de cuatro años de obras, y lleva tanto el"
    " ferrocarril como una carretera. La mayoría de los que lo usan viven en la otra orilla.",
    "it": "Il ponte è stato aperto in primavera, dopo quattro anni di lavori, e porta sia la"
    " ferrovia sia una strada. La maggior parte di chi lo usa abita sull’altra riva del fiume.",
    "pt": "A ponte foi inaugurada na primavera, depois de quatro anos de obras, e leva tanto a"
    " ferrovia como uma estrada. A maioria dos que a usam vive na outra margem do rio.",
    "nl": "De brug werd in het voorjaar na vier jaar werk geopend en draagt zowel de spoorlijn als"
    " een weg. De meeste mensen die er gebruik van maken, wonen aan de overkant van de rivier.",
    "ru": "Мост открыли весной после четырёх лет работ, и по нему проходит как железная дорога, так"
    " и шоссе. Большинство из тех, кто им пользуется, живут на другом берегу реки.",
    "ja": "橋は四年の工事を経て春に開通し、鉄道と道路の両方を通している。利用者の多くは川の"
    "向こう側に住んでいる。",
    "zh": "这座桥经过四年的施工于春天通车，既有铁路也有公路。使用它的人大多住在河的对岸。",
}


@pytest.mark.parametrize("code", codes())
def test_a_paragraph_shows_its_language(code: str) -> None:
    assert language_of(PARAGRAPHS[code]) == code


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("Who wrote War and Peace?", "en"),
        ("What is the GIL?", "en"),
        ("Who is the mayor of São Paulo?", "en"),
        ("When was Müller born?", "en"),
        ("Wie alt ist Angela Merkel?", "de"),
        ("Hauptstadt von Frankreich", "de"),
        ("Qui a écrit Les Misérables ?", "fr"),
        ("Qu’est-ce que la photosynthèse ?", "fr"),
        ("¿Dónde está la Alhambra?", "es"),
        ("Cos'è la fotosintesi?", "it"),
        ("Quem escreveu Os Lusíadas?", "pt"),
        ("Hoeveel inwoners heeft Utrecht?", "nl"),
        ("Кто написал «Войну и мир»?", "ru"),
        ("日本の首都はどこですか", "ja"),
        ("Python の asyncio とは何ですか", "ja"),
        ("中国的首都是哪里？", "zh"),
        ("Python 的 asyncio 是什么？", "zh"),
        ("대한민국의 수도는 어디입니까?", "ko"),
        ("भारत की राजधानी क्या है?", "hi"),
        ("ما هي عاصمة مصر؟", "ar"),
        ("Ποια είναι η πρωτεύουσα της Ελλάδας;", "el"),
        ("מה בירת ישראל?", "he"),
        ("เมืองหลวงของไทยคืออะไร", "th"),
    ],
)
def test_a_short_question_shows_its_language(question: str, code: str) -> None:
    assert language_of(question) == code


@pytest.mark.parametrize(
    "text",
    [
        "",
        "42",
        "Docker Compose",
        "Wie schreef Max Havelaar?",  # both German and Dutch begin so
        "Sverige är ett land i Nordeuropa på den skandinaviska halvön. Det gränsar till Norge i"
        " väster och Finland i nordost, och har en befolkning på över tio miljoner människor.",
        "Polska jest państwem w Europie Środkowej, położonym między Morzem Bałtyckim na północy a"
        " Sudetami i Karpatami na południu. Stolicą i największym miastem jest Warszawa.",
        "Україна — держава в Східній та частково в Центральній Європі. Столиця та найбільше місто —"
        " Київ. Населення країни становить близько сорока мільйонів осіб, які живуть у містах.",
    ],
)
def test_what_shows_no_known_language_is_told_as_none(text: str) -> None:
    assert language_of(text) == ""


def test_names_in_another_script_do_not_hide_the_language() -> None:
    assert language_of(f"{PARAGRAPHS['en']} Its name is 東京ゲートブリッジ.") == "en"
    assert language_of(f"{PARAGRAPHS['zh']} TensorFlow 和 PyTorch") == "zh"


def test_the_first_text_that_shows_a_language_decides_and_english_where_none_does() -> None:
    assert spoken("42", PARAGRAPHS["fr"], PARAGRAPHS["de"]) == "fr"
    assert spoken("42", "") == spoken() == "en"


@given(st.text())
def test_any_text_has_a_language_or_none(text: str) -> None:
    assert language_of(text) in {"", *codes()} or language_of(text).isalpha()
