"""What sections cite before they are judged, and that their headings and columns are founded."""

from __future__ import annotations

from collections.abc import Sequence

from spadework.agents.citation_material import Material
from spadework.agents.extractive.writer import own_cell, own_words
from spadework.agents.sentence_context import state_sentences
from spadework.tools.text.detect import spoken
from spadework.tools.text.facts import stems
from spadework.values import Evidence, Section, Sentence

#: Share of a sentence's content words that another entry must have to be tried for it.
SAME_MATTER = 0.5
#: Other entries of its topic that are tried for a sentence which those it cites do not bear out.
MOST_TRIED = 3
#: Entries that a section does not cite and its writer is shown when it mends it or writes it anew.
MOST_NEAR = 8


def put_right(sections: Sequence[Section], material: Material) -> list[Section]:
    """Return the sections; a sentence with something that code finds in none of its sources also
    cites an entry that has it.
    """
    made = []
    for section in sections:
        told = {
            n: (_with_another(each.sentence, material),)
            for n, each in enumerate(state_sentences(section))
            if not each.label
            and not own_cell(each.sentence.text, each.row, material.cited(each.ids))
        }
        made.append(under_founded(section.changed(told), material))
    return made


def under_founded(section: Section, material: Material) -> Section:
    """A section without the sub-headings and names of columns that its pages do not bear out."""
    cited = _cited_evidence(section, material)
    parts = [
        part
        if part.quoted
        else part.model_copy(
            update={
                "text": part.text and material.founded(part.text, cited),
                "columns": tuple(material.founded(name, cited) for name in part.columns),
            }
        )
        for part in section.parts
    ]
    kept = tuple(part for part in parts if part.form != "heading" or part.text)
    return section.model_copy(update={"parts": kept})


def cited_by(section: Section, material: Material) -> list[Evidence]:
    """The entries that a section cites; where it cites none that exists, those of its topic."""
    topic = [e for e in material.ledger.values() if e.topic == section.heading]
    return _cited_evidence(section, material) or topic


def near(failed: Sequence[Sentence], material: Material) -> list[Evidence]:
    """What a writer may cite anew: what failed sentences cite, and the entries nearest to them."""
    cited = material.cited(dict.fromkeys(i for one in failed for i in one.evidence_ids))
    words = " ".join(one.text for one in failed)
    code = spoken(words)
    said = stems(words, code)
    others = [e for e in material.ledger.values() if e not in cited]
    nearest = sorted(others, key=lambda e: -len(said & stems(f"{e.claim} {e.quote}", code)))
    return [*cited, *nearest[:MOST_NEAR]]


def _cited_evidence(section: Section, material: Material) -> list[Evidence]:
    return material.cited(dict.fromkeys(i for one in section.sentences for i in one.evidence_ids))


def _with_another(sentence: Sentence, material: Material) -> Sentence:
    cited = material.cited(sentence.evidence_ids)
    if own_words(sentence, cited) or not _lacks_source(sentence, cited, material):
        return sentence
    topics = {e.topic for e in cited}
    others = [
        e for e in material.ledger.values() if e not in cited and (e.topic in topics or not topics)
    ]
    code = spoken(sentence.text)
    said = stems(sentence.text, code)
    shared = {e.id: len(said & stems(e.quote, code)) for e in others}
    near = [e for e in others if shared[e.id] >= max(1.0, SAME_MATTER * len(said))]
    for other in sorted(near, key=lambda e: -shared[e.id])[:MOST_TRIED]:
        if not _lacks_source(sentence, [*cited, other], material):
            ids = (*(e.id for e in cited), other.id)
            return sentence.model_copy(update={"evidence_ids": ids})
    return sentence


def _lacks_source(sentence: Sentence, cited: Sequence[Evidence], material: Material) -> bool:
    return bool(material.refused(sentence, cited) or material.unfounded(sentence, cited))
