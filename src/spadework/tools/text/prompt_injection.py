"""Detect prompt injection and keyword stuffing, which must not be used as evidence. A sentence
that merely quotes an instruction to a model is kept.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from functools import lru_cache

from spadework.tools.text.language import language, spoken
from spadework.tools.text.markdown import blocks, plain
from spadework.tools.text.sentences import sentences

#: A sentence with at least this many words outside quotation marks may quote an instruction without
#: counting as a prompt injection.
REPORTS = 4
#: A sentence can count as stuffed with keywords only if it has at least STUFFED_WORDS words and its
#: fraction of distinct words is below STUFFED_SHARE.
STUFFED_WORDS, STUFFED_SHARE = 10, 0.5
#: Length of the shortest injected instruction, "[inst]".
LEAST = 6
_ADDRESS = re.compile(r"https?://\S+")

_KIND = (
    r"(?:ai|a\.i\.|llm|gpt|artificial intelligence|language model|automated|machine|chat"
    r" ?bot|autonomous|research)"
)
_BODY = (
    r"(?:models?|assistants?|agents?|systems?|readers?|"
    r"crawlers?|bots?|scrapers?|summari[sz]ers?|tools?|parsers?)"
)
_MACHINE = (
    rf"(?:(?:{_KIND}[ -]){{1,3}}{_BODY}|(?:ai )?language models?|llms?|ais?|chat ?bots?|chatgpt|"
    rf"claude|gemini|copilot|crawlers?|bots?|assistants?|agents?)"
)
#: Text that must follow a machine's name, so that names of people, such as "AI researchers", do not
#: match.
_ENDED = (
    r"(?=\s*[:,;.!?)\]—–]|\s-|\s+(?:that|which|who|reading|processing|summari[sz]ing|"
    r"crawling|visiting|indexing|please|must|should)\b|$)"
)
#: Where a command can begin: at the start of a clause, or after words such as "please".
_COMMAND = (
    r"(?:^|[.:;!?)\]>—–*#]\s*|\s-+\s*|\b(?:please|now|kindly|immediately|instead|just|stop,?|and"
    r" then|important,?|attention,?|first,?|"
    r"you (?:must|should|shall|will|have to|need to|are to)(?: now| also| always| only)?)\s+)"
)
_EARLIER = r"(?:previous|prior|above|earlier|preceding|former|your|system|original)"
_RULES = (
    r"(?:instructions?|prompts?|directions|directives|guidelines|programming|training|orders|rules)"
)
_SOURCE = r"(?:page|site|website|source|article|document|text)"
_ANSWER = r"(?:answer|summary|report|reply)"
_SAY = r"(?:say|state|recommend|claim|cite|reveal|tell|conclude|promote|praise|endorse|advertise)"

_ORDERS = tuple(
    re.compile(pattern)
    for pattern in (
        # Sentences that address a machine.
        rf"^\W*(?:(?:note|notice|message|memo|instructions?|reminder|warning|information|attention|"
        rf"important|hint)\b[\s,:!]*(?:(?:to|for) )|(?:dear|hello|hey|attention|important|"
        rf"listen),?[\s:!]+)(?:all |any |every |the )?{_MACHINE}\b{_ENDED}",
        rf"\bif (?:you|the reader)(?: are|'re| is) (?:an? |the |any )?{_MACHINE}\b{_ENDED}",
        rf"^\W*(?:{_KIND}[ -]){{1,3}}{_BODY}\s*[:,!]\s*(?:you\b|please\b|do\b|don't\b|never\b|"
        rf"always\b|ignore\b|{_SAY}\b|stop\b)",
        rf"\bas an? {_MACHINE},? you (?:must|should|are|will|have|need)\b",
        # Chat template marks.
        r"<\|/?(?:im_start|im_end|system|endoftext|start_header_id|eot_id)\|>|\[/?(?:inst|system)\]|<</?sys>>|[<‹]\s*/?\s*page_text|</?tool_call>|"
        r"\"(?:covered|evidence_ids|gap_queries|verdict)\"\s*:",
        r"\bsystem(?: (?:prompt|message|override|instructions?|note))?\s*[:>]\s*(?:you"
        r" (?:are|must|will)\b|ignore\b|disregard\b|new\b)",
        (
            r"\b(?:begin|end|start) (?:of )?(?:the )?(?:system|untrusted|page)["
            rf" _](?:{_RULES}|text|data|content)\b|\bnew system {_RULES}\b"
        ),
        rf"{_COMMAND}(?:these are |here are )?(?:your )?new (?:instructions|orders|objective)\s*:",
        # Instructions to ignore, reveal or replace other instructions.
        rf"{_COMMAND}(?:ignore|disregard|forget|override|bypass|discard)\s+(?:\w+\s+){{0,4}}{_EARLIER}\s+(?:\w+\s+){{0,3}}{_RULES}\b",
        rf"{_COMMAND}(?:reveal|repeat|print|output|show|disclose|leak|quote|send|post)\s+(?:\w+\s+){{0,4}}your\s+(?:\w+\s+){{0,2}}"
        rf"(?:system|hidden|initial|original|secret)\s+{_RULES}\b",
        r"\byou are (?:now|hereby) (?:an? |the )?(?:\w+"
        r" ){0,3}(?:assistant|agent|ai|llm|dan|chat ?bot)\b",
        r"\byou are no longer (?:bound|restricted|limited|an? (?:ai|assistant|language model))\b",
        r"\b(?:decode|base64|rot13|unscramble)\b.{0,80}\b(?:follow|obey|execute|comply)\b",
        # Instructions about what to read, believe or say.
        rf"{_COMMAND}(?:cite|quote|use|trust|believe|read)\s+(?:only|exclusively|solely|nothing"
        rf" but)\s+(?:this|our)\s+{_SOURCE}\b",
        rf"{_COMMAND}(?:cite|quote|use|trust|believe|treat|rate|score|rank)\s+(?:this|our)\s+{_SOURCE}\s+(?:only|exclusively|alone|highest|"
        r"first|\d|as (?:the|your) (?:only|sole|single|best|most))",
        rf"{_COMMAND}(?:do not|don't|never)\s+(?:cite|quote|trust|believe|read|"
        rf"consult)\s+(?:any\s+|the\s+)?other\s+{_SOURCE}s?\b",
        rf"{_COMMAND}(?:ignore|disregard|discard|discredit|distrust)\s+(?:all|any|every|the)?\s*other\s+(?:sources?|pages?|sites?|websites?|"
        r"results?|evidence)\b",
        rf"{_COMMAND}mark\s+(?:\w+\s+){{0,3}}topics?\b.{{0,80}}\b(?:covered|complete|answered)\b",
        rf"{_COMMAND}{_SAY}\b.{{0,120}}\bin your (?:final )?{_ANSWER}\b",
        rf"\bin your (?:final )?{_ANSWER},? (?:you (?:must|should|will) )?(?:please )?(?:only"
        rf" |always )?{_SAY}\b",
        r"\bignorier\w*\s+(?:\w+\s+){0,3}(?:vorherig|bisherig|vorangegangen)\w*\s+(?:anweisung|befehl|regel)",
        r"\b(?:ignorez|oubliez)\s+(?:\w+\s+){0,3}(?:instructions|consignes)\s+(?:précédentes|antérieures)",
        r"\b(?:ignora|olvida|ignore)\s+(?:\w+\s+){0,3}(?:instrucciones|instruções)\s+(?:anteriores|previas)",
    )
)
#: Matches a command to do something before answering, such as to visit a page. It counts as a
#: prompt injection only if a web address follows.
_ERRAND = re.compile(
    rf"{_COMMAND}(?:fetch|visit|open|call|load|request|go to|send|post)\b.{{0,200}}\b(?:before|"
    r"while|when|then)\s+(?:you\s+)?(?:answer|summari|writ|report|respond|continu)"
)
#: Characters to strip from a comment, table cell or heading before its text is checked.
_MARKS = "#/*;-<! \t"
_QUOTED = re.compile(
    r"“[^“”]++”|\"[^\"]++\"|«[^«»]++»|„[^„“]++“|(?<!\w)‘[^‘’]++’|(?<!\w)'[^']++'(?!\w)|`[^`]++`"
)
#: Every injected instruction contains at least one of these words.
_HINT = re.compile(
    r"\b(?:ais?|a\.i|llms?|gpt|chatgpt|claude|gemini|copilot|language models?|chat"
    r" ?bots?|bots?|assistants?|agents?|crawlers?|automated|"
    r"machine|autonomous|research|instruc\w*|prompts?|direct\w*|guidelines|programming|training|orders|rules|objective|dan|im_\w+|inst|sys|"
    r"system|longer|endoftext|page_text|tool_call|covered|evidence_ids|gap_queries|verdict|start_header_id|eot_id|base64|rot13|decode|unscramble|pages?|sites?|websites?|sources?|articles?|documents?|"
    r"text|results|evidence|topics?|answer|summary|report|reply|https?|anweisung\w*|befehl\w*|regel\w*|consignes)\b"
)


@lru_cache(maxsize=20_000)
def is_injection(text: str) -> bool:
    """Return whether a sentence gives a model instructions, rather than merely quoting them."""
    if len(text) < LEAST and text.isascii():
        return False
    reported = _QUOTED.sub(" … ", text)
    source = reported if len(re.findall(r"\w+", reported)) >= REPORTS else text
    said = _simple(source)
    return bool(_HINT.search(said)) and (
        any(order.search(said) for order in _ORDERS) or _sends_away(said)
    )


def _sends_away(said: str) -> bool:
    """Return whether a text sends the model to a URL before it may answer."""
    last = max(said.rfind("http://"), said.rfind("https://"))
    errand = _ERRAND.search(said) if last >= 0 else None
    return errand is not None and errand.start() <= last


def is_stuffed(text: str) -> bool:
    """Return whether a sentence repeats a few words and contains no function words."""
    if len(text) < 2 * STUFFED_WORDS - 1:
        return False
    words = re.findall(r"[^\W\d_]+", _ADDRESS.sub(" ", plain(text)).lower())
    if len(words) < STUFFED_WORDS or len(set(words)) >= STUFFED_SHARE * len(words):
        return False
    return not language(spoken(text)).stop.intersection(words)


def spans_between_injections(text: str) -> list[tuple[int, int]]:
    """Return the trimmed spans of text between prompt injections."""
    kept, at = [], 0
    for start, end in [*injection_spans(text), (len(text), len(text))]:
        piece = text[at:start]
        if piece.strip():
            kept.append((at + len(piece) - len(piece.lstrip()), at + len(piece.rstrip())))
        at = end
    return kept


def without_injections(text: str) -> str:
    """Return the text without prompt injections."""
    if not injection_spans(text):
        return text
    return "\n\n".join(text[start:end] for start, end in spans_between_injections(text))


@lru_cache(maxsize=64)
def injection_spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return the spans of prompt injections and keyword stuffing. Each span runs to the end of its
    block; headings, tables and code are covered whole.
    """
    told = ((start, text[start:end]) for start, end in sentences(text))
    spans = [start for start, said in told if is_injection(said) or is_stuffed(said)]
    found = []
    for block in blocks(text):
        if block.kind in ("paragraph", "list", "quote"):
            at = bisect_left(spans, block.start)
            first = spans[at] if at < len(spans) and spans[at] < block.end else None
        else:
            lines = re.split(r"[|\n]", text[block.start : block.end])
            first = block.start if any(is_injection(line.strip(_MARKS)) for line in lines) else None
        if first is not None:
            found.append((first, block.end))
    return tuple(found)


def _simple(text: str) -> str:
    shown = unicodedata.normalize("NFKC", plain(text)).replace("’", "'")
    seen = "".join(char for char in shown if unicodedata.category(char) != "Cf")
    return " ".join(seen.lower().split())
