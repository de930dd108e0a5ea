"""Replace pronouns with the previous question's subject. After "What is a lighthouse?", "How is it
used?" asks about a lighthouse.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from spadework.tools.text.language import Language, language, language_of

#: Maximum words between a subject and its article ("the harbour of Port Aldermere").
MOST_BETWEEN = 5


def take_up(text: str, before: str, subject: str) -> str:
    """Replace the text's pronouns with the `subject` of the question `before`, including its
    article.
    """
    if not subject:
        return text
    spoken = language(language_of(before) or "en")
    article, whole = _phrase_of(before, subject, spoken)

    def name(pronoun: str) -> str:
        # In languages whose pronouns show gender and case, the article does too.
        said = article and spoken.taken_up.get(pronoun.casefold(), article)
        return f"{said} {whole}".strip()

    return _replace_pronouns(text, name)


def put_in(text: str, subject: str) -> str:
    """Return the text with its pronouns replaced by a subject."""
    return _replace_pronouns(text, lambda _: subject)


def _replace_pronouns(text: str, name: Callable[[str], str]) -> str:
    spoken = language(language_of(text) or "en")
    if not spoken.pronouns:
        return text
    words = "|".join(map(re.escape, spoken.pronouns))

    def replace(found: re.Match[str]) -> str:
        return found[0] if spoken.expletive.match(text, found.start()) else name(found[0])

    return re.sub(rf"\b(?:{words})\b", replace, text, flags=re.IGNORECASE)


def _belongs(word: str, spoken: Language) -> bool:
    between = f" {word} "
    return bool(spoken.belongs.fullmatch(between) or spoken.regarding.fullmatch(between))


def _phrase_of(text: str, subject: str, spoken: Language) -> tuple[str, str]:
    """Return a subject's article, or "", and the subject with all words after the article. "Who
    planned the harbour of Port Aldermere?" gives "the" and "harbour of Port Aldermere".
    """
    bare = text.strip(" ?.!")
    if spoken.last_verb.search(bare) and bare.endswith(f" {subject.split()[-1]}"):
        subject = " ".join(subject.split()[:-1]) or subject
    before, taken = text.partition(subject)[0].split(), list[str]()
    while before and len(taken) < MOST_BETWEEN:
        word = before.pop()
        belongs = _belongs(word, spoken)
        of_it = bool(before) and _belongs(before[-1], spoken)
        if word.casefold() in spoken.articles and not of_it:
            return word.casefold(), " ".join([*taken, subject])
        if word.casefold() in spoken.stop - spoken.articles and not belongs:
            break
        taken.insert(0, word)
    return "", subject
