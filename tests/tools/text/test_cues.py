"""A question shows by its words what kind of answer it asks for, in each language."""

from __future__ import annotations

import pytest

from spadework.tools.text.language import codes, language

# fmt: off
KINDS = (
    "count", "measure", "date", "who", "where", "define", "steps", "items", "compare", "why",
)
# fmt: on
#: What is computed of a table's rows, in the languages that have words for it.
OF_TABLES = ("sum", "mean", "largest", "smallest", "weekdays")
#: For each language a question of each kind, in the order of KINDS.
QUESTIONS = {
    "en": """How many people live in Oslo?
How long is the Rhine?
In what year was the bridge opened?
Who wrote Dracula?
Where is the Louvre?
What does idempotent mean?
How do I install Docker?
Which types of clouds are there?
What is the difference between TCP and UDP?
Why is the sky blue?""",
    "de": """Wie viele Einwohner hat Oslo?
Wie lang ist der Rhein?
Wann wurde die Brücke eröffnet?
Wer hat Dracula geschrieben?
Wo liegt der Louvre?
Was bedeutet idempotent?
Wie installiere ich Docker?
Welche Arten von Wolken gibt es?
Was ist der Unterschied zwischen TCP und UDP?
Warum ist der Himmel blau?""",
    "fr": """Combien d’habitants compte Oslo ?
Quelle est la longueur du Rhin ?
En quelle année le pont a-t-il été ouvert ?
Qui a écrit Dracula ?
Où se trouve le Louvre ?
Que signifie idempotent ?
Comment installer Docker ?
Quels sont les types de nuages ?
Quelle est la différence entre TCP et UDP ?
Pourquoi le ciel est-il bleu ?""",
    "es": """¿Cuántos habitantes tiene Oslo?
¿Qué longitud tiene el Rin?
¿En qué año se inauguró el puente?
¿Quién escribió Drácula?
¿Dónde está el Louvre?
¿Qué significa idempotente?
¿Cómo puedo instalar Docker?
¿Cuáles son los tipos de nubes?
¿Cuál es la diferencia entre TCP y UDP?
¿Por qué el cielo es azul?""",
    "it": """Quanti abitanti ha Oslo?
Quanto è lungo il Reno?
In che anno fu aperto il ponte?
Chi ha scritto Dracula?
Dove si trova il Louvre?
Cosa significa idempotente?
Come si installa Docker?
Quali sono i tipi di nuvole?
Qual è la differenza tra TCP e UDP?
Perché il cielo è blu?""",
    "pt": """Quantos habitantes tem Oslo?
Qual é o comprimento do Reno?
Em que ano a ponte foi inaugurada?
Quem escreveu Drácula?
Onde fica o Louvre?
O que significa idempotente?
Como posso instalar o Docker?
Quais são os tipos de nuvens?
Qual é a diferença entre TCP e UDP?
Por que o céu é azul?""",
    "nl": """Hoeveel inwoners heeft Oslo?
Hoe lang is de Rijn?
In welk jaar werd de brug geopend?
Wie schreef Dracula?
Waar ligt het Louvre?
Wat betekent idempotent?
Hoe installeer ik Docker?
Welke soorten wolken zijn er?
Wat is het verschil tussen TCP en UDP?
Waarom is de lucht blauw?""",
    "ru": """Сколько жителей в Осло?
Какова длина Рейна?
В каком году открыли мост?
Кто написал «Дракулу»?
Где находится Лувр?
Что такое идемпотентность?
Как установить Docker?
Какие бывают виды облаков?
В чём разница между TCP и UDP?
Почему небо голубое?""",
    "ja": """オスロには何人が住んでいますか
ライン川の長さはどれくらいですか
橋はいつ開通しましたか
ドラキュラを書いたのは誰ですか
ルーブルはどこにありますか
冪等とは何ですか
Dockerをインストールするにはどうすればいいですか
雲にはどんな種類がありますか
TCPとUDPの違いは何ですか
なぜ空は青いのですか""",
    "zh": """奥斯陆有多少人口？
莱茵河有多长？
这座桥是哪一年通车的？
谁写了《德古拉》？
卢浮宫在哪里？
什么是幂等？
如何安装 Docker？
云有哪些种类？
TCP 和 UDP 有什么区别？
为什么天空是蓝色的？""",
}


@pytest.mark.parametrize("code", QUESTIONS)
def test_a_question_shows_what_it_asks_for(code: str) -> None:
    cues = language(code).cues
    asked = dict(zip(KINDS, QUESTIONS[code].splitlines(), strict=True))
    assert {kind for kind, question in asked.items() if not cues[kind].search(question)} == set()


@pytest.mark.parametrize("code", QUESTIONS)
def test_a_question_for_one_thing_shows_no_cue_of_others(code: str) -> None:
    asked = dict(zip(KINDS, QUESTIONS[code].splitlines(), strict=True))
    cues = language(code).cues
    assert {kind for kind in KINDS if cues[kind].search(asked["why"])} == {"why"}
    assert {kind for kind in KINDS if cues[kind].search(asked["who"])} - {"define"} == {"who"}
    assert {kind for kind in KINDS if cues[kind].search(asked["where"])} == {"where"}
    steps = {kind for kind in KINDS if cues[kind].search(asked["steps"])}
    assert steps == {"steps"}


def test_every_language_has_every_kind() -> None:
    assert set(codes()) == set(QUESTIONS)
    assert all(set(language(code).cues) - set(OF_TABLES) == set(KINDS) for code in codes())


def test_words_of_a_cue_are_whole_where_words_stand_apart() -> None:
    assert not language("en").cues["why"].search("Whyalla and its pearls")
    assert language("en").cues["define"].search("what’s  a monad")


NEWS = {
    "en": ("What is the latest news about Oslo?", "How do I install Docker?"),
    "de": ("Was sind die neuesten Nachrichten aus Oslo?", "Wie installiere ich Docker?"),
    "fr": ("Quelles sont les dernières nouvelles d’Oslo ?", "Comment installer Docker ?"),
    "es": ("¿Cuáles son las últimas noticias de Oslo?", "¿Cómo puedo instalar Docker?"),
    "it": ("Quali sono le ultime notizie su Oslo?", "Come si installa Docker?"),
    "nl": ("Wat is het laatste nieuws over Oslo?", "Hoe installeer ik Docker?"),
    "pt": ("Quais são as últimas notícias de Oslo?", "Como instalar o Docker?"),
    "ru": ("Какие последние новости из Осло?", "Как установить Docker?"),
    "ja": ("オスロの最新ニュースは？", "Dockerをインストールするには？"),
    "zh": ("奥斯陆的最新消息是什么？", "如何安装Docker？"),
}


@pytest.mark.parametrize("code", codes())
def test_a_question_for_what_is_new_is_told_from_others(code: str) -> None:
    new, other = NEWS[code]
    latest = language(code).latest
    assert (bool(latest.search(new)), bool(latest.search(other))) == (True, False)
