"""A change of a plan that is said in words: by rules where they understand it, else by the lead."""

from __future__ import annotations

from spadework.agents.bounds import at_most
from spadework.agents.fallback import first_of
from spadework.agents.model import Model
from spadework.agents.plan_edits import MOST_TOPICS, with_topics
from spadework.agents.plan_wording import Worded, by_words
from spadework.prompts import render
from spadework.values import Freshness, Plan, Problem, Visible

#: What is said where nobody understands it.
_HOW = "Say it as: drop the second topic, add costs, only alternatives, rename 1 to NAME."


class WishedAnswer(Visible):
    """A plan as it was wished: all its topics by name, in their order, and how recent its pages
    shall be.
    """

    topics: list[str] = at_most(MOST_TOPICS)
    freshness: Freshness


async def apply_wish(
    model: Model | None, plan: Plan, wish: str, *, seconds: float
) -> tuple[Worded, list[Problem]]:
    """The plan with what is wished of it, or why it stays as it is; and what failed."""
    found = by_words(plan, wish, sure=model is not None)
    if found.understood:
        return found, []
    failed = Worded(plan, f"{found.said} {_HOW}")
    if model is None:
        return failed, []
    prompt = render("wished", question=plan.question, plan=plan, wish=wish)

    async def ask(model: Model) -> Worded:
        answer = await model.ask("lead", prompt, WishedAnswer, seconds=seconds)
        now = with_topics(plan, [name for name in map(str.strip, answer.topics) if name])
        now = now.model_copy(update={"freshness": answer.freshness})
        return failed if now == plan else Worded(now)

    effect = "The plan was left as it was."
    return await first_of(model, "lead", "plan", ask, lambda: failed, effect)
