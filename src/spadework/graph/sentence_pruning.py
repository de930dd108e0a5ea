"""Remove failed and repeated sentences from verified sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spadework.agents.report.marked_text import beside_code
from spadework.agents.report.sentence_context import (
    Stated,
    dangling_leads,
    leans,
    leans_on_lead,
    leant_on,
    places,
    state_sentences,
)
from spadework.agents.verifier import Checked, Finding, Findings, judge_section
from spadework.agents.writer import Changes
from spadework.tools.text.language import language, spoken
from spadework.tools.text.sentences import leads, sentences
from spadework.tools.web.urls import hosts_for_urls, inert_addresses
from spadework.values import Problem, Section, Sentence

#: A section with fewer new sentences than this keeps some sentences that repeat earlier sections.
LEAST_SAID = 4
LEANING = "The sentence depended on another sentence that was removed."
LEADING = "Everything that the sentence introduced was removed."
AGAIN = "The sentence replaced an unsupported one and could not be checked itself."


def settle_changes(section: Section, changes: Changes, findings: Findings) -> Checked:
    """Apply repairs unless they make a passing sentence fail. Return the section and findings."""
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
    """Return a rejection for each sentence that replaced a failed one and could not be checked."""
    after = iter(state_sentences(before.section.changed(changes)))
    found = {}
    for n, old in enumerate(before.findings):
        for each in [next(after) for _ in changes.get(n, (None,))]:
            if n in changes and not old.holds and findings[each].verdict == "could not check":
                found[each] = Finding("unsupported", AGAIN)
    return found


def keep_what_holds(checked: Checked, findings: Findings) -> tuple[Checked, list[Problem]]:
    """Drop failed sentences and those that depend on them, and return a problem for each one."""
    section, gone = checked.section, dict[int, str]()
    while fallen := _fallen(checked, findings, gone):
        gone |= fallen
    left = state_sentences(section, gone)
    changes: Changes = dict.fromkeys(gone, ())
    for n, each in enumerate(left):
        alone = _without_context(each.sentence)
        if n not in gone and each not in findings and alone:
            changes[n] = (alone,)
    for n in [n for n, why in gone.items() if why == LEADING]:
        if before := _without_lead(section.sentences[n]):
            changes[n] = (before,)
            del gone[n]
    standing = zip(left, checked.findings, strict=True)
    kept = Checked(section, tuple(findings.get(each, was) for each, was in standing))
    problems = [
        Problem(
            stage="verifier",
            subject=section.heading,
            reason=f"{gone[n].strip()} The sentence: {section.sentences[n].text[:300]}",
            effect="The sentence was removed.",
        )
        for n in sorted(gone)
    ]
    return kept.changed(changes), problems


def _fallen(checked: Checked, findings: Findings, gone: Mapping[int, str]) -> dict[int, str]:
    section = checked.section
    fallen = dict.fromkeys(dangling_leads(section, gone), LEADING)
    around = zip(state_sentences(section, gone), places(section), strict=True)
    whole = state_sentences(section)
    for n, (each, place) in enumerate(around):
        finding = findings.get(each, checked.findings[n])
        if n in gone:
            continue
        if not finding.holds:
            fallen[n] = f"{finding.verdict}. {finding.why}"
        elif each not in findings and (
            place.in_table or leans_on_lead(whole[n]) or not _without_context(each.sentence)
        ):
            fallen[n] = LEANING
    return fallen


def _without_lead(sentence: Sentence) -> Sentence | None:
    start, _ = [(0, 0), *sentences(sentence.text)][-1]
    text = sentence.text[:start].rstrip()
    return sentence.model_copy(update={"text": text}) if text else None


def _without_context(sentence: Sentence) -> Sentence | None:
    """Return the sentence, shortened if necessary to stand on its own, or None if impossible."""
    if not leans(sentence):
        return sentence
    text = language(spoken(sentence.text)).without_connective(sentence.text)
    return sentence.model_copy(update={"text": text}) if text else None


def drop_repeats(sections: Sequence[Checked]) -> list[Checked]:
    """Drop sentences that an earlier section already contains, but keep some if a section would
    become too short. Keep only the last copy of a repeated table.
    """
    said: set[str] = set()
    made = []
    tables = [_tables(checked.section) for checked in sections]
    for n, checked in enumerate(sections):
        section = checked.section
        later = {table for others in tables[n + 1 :] for table in others}
        twice = {at for table, own in tables[n].items() if table in later for at in own}
        if section.kind == "summary" or len(twice) == len(section.sentences):
            # Keep tables that are the section's whole answer, even if repeated.
            twice = set()
        bound = (each.row or each.follows or each.label for each in state_sentences(section))
        stays = leant_on(section) | {n for n, each in enumerate(bound) if each} | _steps(section)
        told = section.sentences
        again = [n for n, one in enumerate(told) if one.text in said and n not in stays]
        own = {one.text for n, one in enumerate(told) if n not in twice.union(again)}
        best = [n for n in again if not (told[n].code or leads(told[n].text))]
        kept = best[: max(0, LEAST_SAID - len(own))]
        if again and not (kept or own):
            kept = again[: 2 if leads(told[again[0]].text) else 1]
        gone = set(again) - set(kept) | twice
        gone |= dangling_leads(section, gone)
        made.append(checked.changed(dict.fromkeys(gone, ())))
        if section.kind != "summary":
            said |= {one.text for n, one in enumerate(told) if n not in twice}
    return made


def _tables(section: Section) -> dict[tuple[str, ...], range]:
    found, at = dict[tuple[str, ...], range](), 0
    for part in section.parts:
        end = at + sum(part.takes)
        if part.form == "table":
            cells = (one.text for one in section.sentences[at:end])
            found[*part.columns, *cells] = range(at, end)
        at = end
    return found


def _steps(section: Section) -> set[int]:
    found, at = set[int](), 0
    for part in section.parts:
        end = at + sum(part.takes)
        found |= set(range(at, end)) if part.form == "steps" else set()
        at = end
    return found


def unlinked(checked: Checked) -> Checked:
    """Make a section's web addresses unclickable. In its heading, shorten them to host names."""
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
    """Make the web addresses in a sentence unclickable, because the source list has the links."""
    if sentence.code:
        return sentence
    return sentence.model_copy(update={"text": beside_code(sentence.text, inert_addresses)})
