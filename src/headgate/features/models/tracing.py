"""A span for each call of a chat model: model, tokens and duration. Never the content."""

from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, LLMResult

from headgate.foundation.errors import HeadgateError
from headgate.foundation.telemetry import Span, Tracing
from headgate.sdk import Model


def traced(chat: BaseChatModel, model: Model, traces: Tracing) -> BaseChatModel:
    """Return the same model, whose calls are traced."""
    handler = ModelSpans(model, traces)
    given = chat.callbacks if isinstance(chat.callbacks, list) else []
    return chat.model_copy(update={"callbacks": [*given, handler]})


class ModelSpans(BaseCallbackHandler):
    """Opens a span when a model is called and ends it when it has answered."""

    run_inline = True
    """In the caller's own context, so that the step's span is the parent."""

    def __init__(self, model: Model, traces: Tracing) -> None:
        self._model = model
        self._traces = traces
        self._open: dict[UUID, Span] = {}

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002 - LangChain's own signature
        messages: list[list[BaseMessage]],  # noqa: ARG002
        *,
        run_id: UUID,
        **_more: Any,  # noqa: ANN401
    ) -> None:
        """A model is called."""
        about = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": self._model.provider,
            "gen_ai.request.model": self._model.name,
        }
        self._open[run_id] = self._traces.open_span(f"chat {self._model.name}", about, kind="client")

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_more: Any) -> None:  # noqa: ANN401
        """It answered."""
        span = self._open.pop(run_id, None)
        if span is None:
            return
        for generation in response.generations[0] if response.generations else ():
            message = generation.message if isinstance(generation, ChatGeneration) else None
            usage = message.usage_metadata if isinstance(message, AIMessage) else None
            if usage is not None:
                span.set(
                    {
                        "gen_ai.usage.input_tokens": usage["input_tokens"],
                        "gen_ai.usage.output_tokens": usage["output_tokens"],
                    }
                )
        span.end()

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_more: Any) -> None:  # noqa: ANN401
        """It failed."""
        span = self._open.pop(run_id, None)
        if span is not None:
            span.fail(error.code if isinstance(error, HeadgateError) else type(error).__name__)
            span.end()
