"""What is left of checked sections: without what does not hold, and each thing said once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spadework.agents.report.marked_text import beside_code
from spadework.agents.report.sentence_context import (
    Stated,
    dangling,
    leaning,
    leans_on_lead,
    leant_on,
    places,
    state_sentences,
)
from spadework.agents.verifier import Checked, Finding, Findings, judge_section
from spadework.agents.writer import Changes
from spadework.tools.text.language import language, spoken
from spadework.tools.text.sentences import leads
from spadework.tools.web.urls import hosts_for_urls, inert_addresses
from spadework.values import Problem, Section, Sentence

#: A topic with fewer sentences of its own says again, up to so many, what stands elsewhere.
LEAST_SAID = 4
#: Why a sentence was taken out that holds by itself.
LEANING = "It leaned on a sentence that was taken out."
LEADING = "It led to nothing that was left."
AGAIN = "It stood in the place of what did not hold, and could not be checked itself."


def settle_changes(section: Section, changes: Changes, findings: Findings) -> Checked:
    """A section as mended; what held stays where what stands in its place does not."""
    old = judge_section(section, findings).findings
    new = iter(judge_section(section.changed(changes), findings).findings)
    kept, told = dict(changes), list[Finding]()
    for n, before in enumerate(old):
        group = [next(new) for _ in changes.get(n, section.sentences[n : n + 1])]
        if n in changes and before.holds and not (group and all(each.holds for each in group)):
            del kept[n]
            group = [before]
        told += group
    return Checked(section.changed(kept), tuple(told))


def unproven(before: Checked, changes: Changes, findings: Findings) -> dict[Stated, Finding]:
    """What stands in the place of what did not hold, and could not be checked, does not, either."""
    after = iter(state_sentences(before.section.changed(changes)))
    found = {}
    for n, old in enumerate(before.findings):
        for each in [next(after) for _ in changes.get(n, (None,))]:
            if n in changes and not old.holds and findings[each].verdict == "could not check":
                found[each] = Finding("unsupported", AGAIN)
    return found


def keep_what_holds(checked: Checked, findings: Findings) -> tuple[Checked, list[Problem]]:
    """A section without what does not hold in its place, and without what would then hang in the
    air. What is shortened to stand alone has the finding of what it was.
    """
    section, gone = checked.section, dict[int, str]()
    while fallen := _fallen(checked, findings, gone):
        gone |= fallen
    left = state_sentences(section, gone)
    changes: Changes = dict.fromkeys(gone, ())
    for n, each in enumerate(left):
        alone = _alone(each.sentence)
        if n not in gone and each not in findings and alone:
            changes[n] = (alone,)
    standing = zip(left, checked.findings, strict=True)
    kept = Checked(section, tuple(findings.get(each, was) for each, was in standing))
    problems = [
        Problem(
            stage="verifier",
            subject=section.heading,
            reason=f"{gone[n].strip()} The sentence: {section.sentences[n].text[:300]}",
            effect="It was taken out.",
        )
        for n in sorted(gone)
    ]
    return kept.changed(changes), problems


def _fallen(checked: Checked, findings: Findings, gone: Mapping[int, str]) -> dict[int, str]:
    """What falls once others are gone, by position, and why."""
    section = checked.section
    fallen = dict.fromkeys(dangling(section, gone), LEADING)
    around = zip(state_sentences(section, gone), places(section), strict=True)
    whole = state_sentences(section)
    for n, (each, place) in enumerate(around):
        finding = findings.get(each, checked.findings[n])
        if n in gone:
            continue
        if not finding.holds:
            fallen[n] = f"{finding.verdict}. {finding.why}"
        elif each not in findings and (
            place.in_table or leans_on_lead(whole[n]) or not _alone(each.sentence)
        ):
            fallen[n] = LEANING
    return fallen


def _alone(sentence: Sentence) -> Sentence | None:
    """A sentence as it can stand by itself; None where it cannot."""
    if not leaning(sentence):
        return sentence
    text = language(spoken(sentence.text)).alone(sentence.text)
    return sentence.model_copy(update={"text": text}) if text else None


def once(sections: Sequence[Checked]) -> list[Checked]:
    """The sections without the sentences that a section before says; where few are left, the best
    of those, too: an answer stands with its question. A summary may repeat what the sections say;
    what others lean on stays, and so do steps. A table stands where it is told last.
    """
    said: set[str] = set()
    made = []
    tables = [_tables(checked.section) for checked in sections]
    for n, checked in enumerate(sections):
        section = checked.section
        later = {table for others in tables[n + 1 :] for table in others}
        twice = {at for table, own in tables[n].items() if table in later for at in own}
        if section.kind == "summary" or len(twice) == len(section.sentences):
            twice = set()  # an answer stands with its question
        bound = (each.row or each.follows or each.label for each in state_sentences(section))
        stays = leant_on(section) | {n for n, each in enumerate(bound) if each} | _steps(section)
        told = section.sentences
        again = [n for n, one in enumerate(told) if one.text in said and n not in stays]
        own = {one.text for n, one in enumerate(told) if n not in twice.union(again)}
        best = [n for n in again if not (told[n].code or leads(told[n].text))]
        kept = best[: max(0, LEAST_SAID - len(own))]
        if again and not (kept or own):
            # What leads to code stays with it.
            kept = again[: 2 if leads(told[again[0]].text) else 1]
        gone = set(again) - set(kept) | twice
        gone |= dangling(section, gone)
        made.append(checked.changed(dict.fromkeys(gone, ())))
        if section.kind != "summary":
            said |= {one.text for n, one in enumerate(told) if n not in twice}
    return made


def _tables(section: Section) -> dict[tuple[str, ...], range]:
    """The tables of a section by their names and cells, and the positions of these."""
    found, at = dict[tuple[str, ...], range](), 0
    for part in section.parts:
        end = at + sum(part.takes)
        if part.form == "table":
            cells = (one.text for one in section.sentences[at:end])
            found[*part.columns, *cells] = range(at, end)
        at = end
    return found


def _steps(section: Section) -> set[int]:
    """The positions of what stands in steps, each of which is needed where it is told."""
    found, at = set[int](), 0
    for part in section.parts:
        end = at + sum(part.takes)
        found |= set(range(at, end)) if part.form == "steps" else set()
        at = end
    return found


def unlinked(checked: Checked) -> Checked:
    """A section in whose prose no address can be followed; in headings each is only its host."""
    section = checked.section
    told = {n: (without_addresses(one),) for n, one in enumerate(section.sentences)}
    parts = tuple(
        part.model_copy(
            update={
                "text": inert_addresses(part.text),
                "columns": tuple(map(inert_addresses, part.columns)),
            }
        )
        for part in section.parts
    )
    named = section.model_copy(update={"heading": hosts_for_urls(section.heading), "parts": parts})
    return Checked(named.changed(told), checked.findings)


def without_addresses(sentence: Sentence) -> Sentence:
    """A sentence without links: those of a report are in its sources. Code stays as it is."""
    if sentence.code:
        return sentence
    return sentence.model_copy(update={"text": beside_code(sentence.text, inert_addresses)})
