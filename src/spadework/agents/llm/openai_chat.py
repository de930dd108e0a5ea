"""Talk to chat models over OpenAI's protocol. Import only when needed: LangChain loads slowly."""

from __future__ import annotations

import warnings
from typing import Any

import openai
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_openai import ChatOpenAI

from spadework.agents.llm.reply import ErrorReply, read_reply


class OpenAIChat(ChatOpenAI):
    """LangChain's client with our own parsing. Messages carry the ServerReply as
    `response_metadata["reply"]`. Errors are raised as ErrorReply.
    """

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        payload = self._get_request_payload(messages, stop=stop, **kwargs)
        if self._use_responses_api(payload):
            return await super()._agenerate(messages, stop, run_manager, **kwargs)
        try:
            raw = await self.async_client.with_raw_response.create(**payload)
            response = raw.http_response
        except openai.APIStatusError as error:
            response = error.response
        reply = read_reply(response.status_code, response.headers, response.content)
        if reply.kind == "error":
            raise ErrorReply(reply)
        message = AIMessage(reply.text, response_metadata={"reply": reply})
        return ChatResult(generations=[ChatGeneration(message=message)])


# We test which output methods a server supports, so this warning is just noise.
warnings.filterwarnings("ignore", message="This model does not support OpenAI's structured output")
