"""The graph as a conversation: messages in, messages out, questions back, follow-ups."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from spadework.errors import SettingsError
from spadework.graph.chat import Chat, build_chat
from spadework.settings import Settings

SENTENCE = "Quillon is a wind-up radio that plays for 45 minutes after one winding."
NOTES = f"# Quillon\n\n{SENTENCE} It was designed in Port Aldermere in 1931.\n"
THREAD: RunnableConfig = {"configurable": {"thread_id": "t"}}


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "quillon.md").write_text(NOTES)
    return folder


@pytest.fixture
def settings(notes: Path) -> Settings:
    return Settings.load(library=(notes,), search="library", iterations=1)


@pytest.fixture
def chat() -> Chat:
    return build_chat(InMemorySaver())


def says(text: Any) -> Any:
    return {"messages": [HumanMessage(text)]}


async def test_a_message_is_answered_with_a_report_and_its_sources(
    chat: Chat, settings: Settings
) -> None:
    out = await chat.ainvoke(says("What is the Quillon?"), THREAD, context=settings)
    question, answer = out["messages"]
    assert question.text == "What is the Quillon?"
    assert isinstance(answer, AIMessage)
    assert SENTENCE in answer.text
    assert answer.additional_kwargs["sources"] == [
        {"n": 1, "url": "library://notes/quillon.md", "title": "Quillon"}
    ]
    assert answer.additional_kwargs["session_id"] == out["session_id"]
    assert (settings.home / "sessions" / out["session_id"]).is_dir()
    assert answer.usage_metadata == {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}, (
        "no model was asked"
    )


async def test_a_follow_up_knows_what_was_asked_and_uses_the_pages_that_were_read(
    chat: Chat, settings: Settings, notes: Path
) -> None:
    first = await chat.ainvoke(says("What is the Quillon?"), THREAD, context=settings)
    (notes / "quillon.md").unlink()
    (notes / "other.md").write_text(
        "# Other\n\nNothing is said here about anything that somebody would like to know.\n"
    )
    second = await chat.ainvoke(says("Where was it designed?"), THREAD, context=settings)
    assert "designed in Port Aldermere" in second["messages"][-1].text, (
        "the page of the first session is read again"
    )
    assert second["session_id"] != first["session_id"]
    state = (await chat.aget_state(THREAD)).values
    assert (state["follows"], state["earlier"]) == (first["session_id"], ["What is the Quillon?"])


async def test_the_question_may_stand_in_the_blocks_of_a_message(
    chat: Chat, settings: Settings
) -> None:
    blocks = [
        {"type": "text", "text": "What is the Quillon?"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
    ]
    out = await chat.ainvoke(says(blocks), THREAD, context=settings)
    assert SENTENCE in out["messages"][-1].text


@pytest.mark.parametrize(
    "messages",
    [[], [HumanMessage("  ")], [AIMessage("What is the Quillon?")]],
    ids=["none", "empty", "no-human"],
)
async def test_a_conversation_without_a_question_is_refused_in_one_sentence(
    chat: Chat, settings: Settings, messages: list[Any]
) -> None:
    with pytest.raises(SettingsError, match="The last message has no question"):
        await chat.ainvoke({"messages": messages}, THREAD, context=settings)


async def test_the_conversation_asks_back_and_has_its_plan_approved(
    chat: Chat, settings: Settings
) -> None:
    asking = settings.with_(clarify=True, approve=True)
    out = await chat.ainvoke(says("What is it?"), THREAD, context=asking)
    assert out["__interrupt__"][0].value["kind"] == "clarify"
    out = await chat.ainvoke(Command(resume="the Quillon"), THREAD, context=asking)
    plan = out["__interrupt__"][0].value
    assert (plan["kind"], plan["plan"]["question"]) == ("approve", "What is the Quillon?")
    out = await chat.ainvoke(Command(resume=["Quillon"]), THREAD, context=asking)
    assert "## Quillon" in out["messages"][-1].text
    assert SENTENCE in out["messages"][-1].text


async def test_a_context_that_comes_as_json_is_checked(chat: Chat, notes: Path) -> None:
    context: Any = {"library": str(notes), "search": "library", "iterations": 1}
    out = await chat.ainvoke(says("What is the Quillon?"), THREAD, context=context)
    assert SENTENCE in out["messages"][-1].text
    with pytest.raises(SettingsError, match=r"^minutes must be greater than 0, not -1\.$"):
        await chat.ainvoke(says("What is the Quillon?"), THREAD, context=context | {"minutes": -1})


async def test_who_writes_on_instead_of_answering_is_heard(chat: Chat, settings: Settings) -> None:
    await chat.ainvoke(says("What is it?"), THREAD, context=settings.with_(clarify=True))
    out = await chat.ainvoke(says("What is the Quillon?"), THREAD, context=settings)
    assert SENTENCE in out["messages"][-1].text


@pytest.mark.parametrize("subgraphs", [False, True])
async def test_plan_progress_and_report_come_on_the_threads_own_stream(
    chat: Chat, settings: Settings, *, subgraphs: bool
) -> None:
    parts = chat.astream(
        says("What is the Quillon?"),
        THREAD,
        context=settings,
        stream_mode=["custom", "messages"],
        subgraphs=subgraphs,
        version="v2",
    )
    events, messages = list[str](), dict[str, str]()
    async for part in parts:
        assert part["ns"] == (), "nobody needs to ask for the loop within"
        if part["type"] == "custom":
            events.append(part["data"]["type"])
        elif part["type"] == "messages":
            [message, _] = part["data"]
            assert isinstance(message, (AIMessage, AIMessageChunk))
            kind = str(message.id).partition("-")[0]
            messages[kind] = messages.get(kind, "") + message.text
    assert [events.count(name) for name in ("planned", "read", "assessed", "finished")] == [1] * 4
    assert list(messages) == ["plan", "progress", "draft", "report"]
    assert messages["plan"] == "**Plan**\n\n1. What is the Quillon?\n"
    assert messages["progress"].splitlines()[-2:] == [
        "- Read [Quillon](library://notes/quillon.md)",
        "- **Round 1**: 1 quote. What is the Quillon?: answered",
    ]
    assert SENTENCE in messages["draft"]
    assert "About this report" not in messages["draft"]
    assert SENTENCE in messages["report"]
    assert "About this report" in messages["report"]
    kept = (await chat.aget_state(THREAD)).values["messages"]
    assert [type(message) for message in kept] == [HumanMessage, AIMessage], "the report stays"


async def test_what_a_system_message_says_is_a_wish(chat: Chat, settings: Settings) -> None:
    said: Any = {
        "messages": [SystemMessage("Answer briefly."), HumanMessage("What is the Quillon?")]
    }
    out = await chat.ainvoke(said, THREAD, context=settings)
    assert SENTENCE in out["messages"][-1].text
    assert (await chat.aget_state(THREAD)).values["wishes"] == "Answer briefly."


async def test_a_change_of_form_revises_the_report_of_the_turn_before(
    chat: Chat, settings: Settings, notes: Path
) -> None:
    await chat.ainvoke(says("What is the Quillon?"), THREAD, context=settings)
    (notes / "quillon.md").unlink()
    second = await chat.ainvoke(says("shorter, please"), THREAD, context=settings)
    report = second["messages"][-1].text
    assert "This report revises the one from the previous session" in report
    assert SENTENCE in report
    assert "Nothing in the report can be left out." in report, "it is one passage"
