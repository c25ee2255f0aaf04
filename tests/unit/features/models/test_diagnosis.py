import json
from itertools import pairwise
from typing import Any

import httpx2
import pytest
from openai import LengthFinishReasonError
from openai.types.chat import ChatCompletion, ChatCompletionMessage
from openai.types.chat.chat_completion import Choice
from pydantic import BaseModel, ValidationError

from headgate.features.models import errors
from headgate.features.models.diagnosis import Caller, friendly_error
from headgate.features.models.failure import MAX_MESSAGE, causes, read_failure
from headgate.features.models.setup.values import ModelRole
from headgate.foundation.errors import NotFound

CALLER = Caller(model="openai/gpt-4o", provider="OpenAI", key_variable="OPENAI_API_KEY", timeout_seconds=9)


class StatusError(Exception):
    """As the OpenAI and Anthropic libraries make them."""

    def __init__(self, message: str, status: int, body: Any = None, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status_code = status
        self.body = body
        self.response = httpx2.Response(status, headers=headers, request=httpx2.Request("POST", "https://x.example"))


class ModelNotFoundError(Exception):
    """As Ollama's: a status and no body."""

    status_code = 404


class GoogleError(Exception):
    """As Google's: `code` and `details`."""

    def __init__(self, code: int, details: dict[str, Any]) -> None:
        super().__init__(f"{code} {details}")
        self.code = code
        self.details = details


def chained(*chain: BaseException) -> BaseException:
    for outer, inner in pairwise(chain):
        outer.__cause__ = inner
    return chain[0]


class TestFriendlyError:
    def test_keeps_an_error_that_is_headgates_own(self) -> None:
        own = NotFound("There is no such thing.")
        assert friendly_error(own) is own
        assert friendly_error(chained(RuntimeError("Connection error."), own)) is own

    def test_takes_the_deepest_words_out_of_wrappers(self) -> None:
        error = chained(
            RuntimeError("Error building Component Agent: it broke"), ValueError(""), KeyError("the real reason")
        )
        assert "the real reason" in friendly_error(error, CALLER).detail

    def test_reads_the_message_out_of_a_printed_body(self) -> None:
        printed = "Error code: 400 - {'error': {'message': 'Field \"x\" isn\\'t known', 'type': 'bad'}}"
        assert "isn" in read_failure(RuntimeError(printed)).message
        assert "Error code" not in read_failure(RuntimeError(printed)).message

    def test_strips_the_name_of_the_wrapper(self) -> None:
        message = read_failure(RuntimeError("Error building Component Agent: the tool is missing")).message
        assert message == "the tool is missing"

    def test_looks_into_a_group(self) -> None:
        group = ExceptionGroup("several", [StatusError("no", 401), ValueError("other")])
        assert isinstance(friendly_error(group, CALLER), errors.KeyRejected)

    def test_survives_a_circle_of_causes(self) -> None:
        one, two = RuntimeError("one"), RuntimeError("two")
        one.__cause__, two.__cause__ = two, one
        assert list(causes(one)) == [one, two]
        assert friendly_error(one).detail

    def test_cuts_what_is_very_long(self) -> None:
        assert len(read_failure(RuntimeError("word " * 5000)).message) == MAX_MESSAGE

    @pytest.mark.parametrize(
        ("error", "kind"),
        [
            (StatusError("x", 401), errors.KeyRejected),
            (StatusError("x", 403), errors.KeyRejected),
            (StatusError("x", 403, {"message": "no", "code": "model_not_found"}), errors.ModelNotAccessible),
            (StatusError("x", 404), errors.ModelNotAccessible),
            (ModelNotFoundError("model 'qwen9' not found"), errors.ModelNotAccessible),
            (StatusError("x", 402), errors.QuotaExhausted),
            (StatusError("x", 429), errors.ModelRateLimited),
            (StatusError("x", 429, {"message": "m", "code": "insufficient_quota"}), errors.QuotaExhausted),
            (StatusError("x", 413), errors.PromptTooLong),
            (StatusError("maximum context length is 5", 400), errors.PromptTooLong),
            (StatusError("x", 400, {"message": "m", "code": "content_filter"}), errors.AnswerWithheld),
            (StatusError("x", 400), errors.RequestRefused),
            (StatusError("x", 422), errors.RequestRefused),
            (StatusError("x", 500), errors.ProviderFailed),
            (StatusError("x", 529), errors.ProviderFailed),
            (StatusError("x", 504), errors.ModelTimedOut),
            (GoogleError(400, {"error": {"message": "API key not valid."}}), errors.KeyRejected),
            (GoogleError(429, {"error": {"message": "exceeded your current quota", "status": "RESOURCE_EXHAUSTED"}}),
             errors.QuotaExhausted),
            (TimeoutError(), errors.ModelTimedOut),
            (httpx2.ReadTimeout("slow"), errors.ModelTimedOut),
            (chained(RuntimeError("wrapped"), httpx2.ConnectTimeout("slow")), errors.ModelTimedOut),
            (httpx2.ConnectError("refused"), errors.ModelUnreachable),
            (httpx2.RemoteProtocolError("incomplete chunked read"), errors.ModelUnreachable),
            (ConnectionRefusedError(111, "refused"), errors.ModelUnreachable),
            (json.JSONDecodeError("Expecting value", "", 0), errors.BrokenModelAnswer),
            (KeyError("choices"), errors.BrokenModelAnswer),
            (RuntimeError("something else"), errors.ModelCallFailed),
        ],
        ids=str,
    )  # fmt: skip
    def test_tells_kinds_apart_and_says_what_to_do(self, error: Exception, kind: type[Exception]) -> None:
        told = friendly_error(error, CALLER)
        assert type(told) is kind
        assert told.remedy
        assert told.detail.strip().endswith((".", ":")) or told.detail

    def test_a_rate_limit_with_a_pause_is_not_an_empty_account(self) -> None:
        body = {"message": "You exceeded your current quota, please check your plan and billing details"}
        told = friendly_error(StatusError("x", 429, body, {"retry-after": "21"}), CALLER)
        assert isinstance(told, errors.ModelRateLimited)
        assert told.extra["retry_after_seconds"] == 21

    @pytest.mark.parametrize("value", ["soon", "-5", "1e99", "Wed, 21 Oct 2026 07:28:00 GMT", "nan"])
    def test_ignores_a_pause_that_makes_no_sense(self, value: str) -> None:
        told = friendly_error(StatusError("x", 429, headers={"retry-after": value}), CALLER)
        assert "retry_after_seconds" not in told.extra

    def test_hides_the_key_that_was_sent(self) -> None:
        error = StatusError("Wrong key my-plain-key-77 given", 401)
        error.response.request.headers["x"] = "y"
        request = httpx2.Request("POST", "https://x.example", headers={"authorization": "Bearer my-plain-key-77"})
        error.request = request  # type: ignore[attr-defined]
        told = friendly_error(error, CALLER)
        assert "my-plain-key-77" not in str(told)
        assert "Wrong key" in told.detail

    def test_does_not_quote_the_values_of_a_failed_validation(self) -> None:
        class Shape(BaseModel):
            api_key: int

        with pytest.raises(ValidationError) as caught:
            Shape.model_validate({"api_key": "plain-secret-value"})
        told = friendly_error(caught.value, CALLER)
        assert "plain-secret-value" not in f"{told} {told.problem()}"
        assert "api_key" in told.detail

    def test_keeps_what_the_model_wrote_instead_of_the_schema_and_tells_nobody(self) -> None:
        class Shape(BaseModel):
            intent: int

        with pytest.raises(ValidationError) as caught:
            Shape.model_validate_json("Well, it is off_topic.")
        told = friendly_error(caught.value, CALLER)
        assert isinstance(told, errors.BrokenModelAnswer)
        assert told.words == "Well, it is off_topic."
        assert "off_topic" not in str(told.problem())

    def test_keeps_what_an_answer_said_that_reached_its_limit(self) -> None:
        message = ChatCompletionMessage(role="assistant", content='{"intent": "off_topic", "trans')
        choice = Choice(finish_reason="length", index=0, message=message)
        completion = ChatCompletion(id="1", choices=[choice], created=1, model="m", object="chat.completion")
        told = friendly_error(LengthFinishReasonError(completion=completion), CALLER)
        assert isinstance(told, errors.BrokenModelAnswer)
        assert told.words == '{"intent": "off_topic", "trans'

    def test_names_no_variable_where_there_is_none(self) -> None:
        told = friendly_error(StatusError("x", 401), Caller())
        assert "variable" not in told.extra
        assert "None" not in str(told)

    def test_is_a_problem_document(self) -> None:
        told = friendly_error(StatusError("x", 429, headers={"retry-after": "2"}), CALLER).problem()
        assert json.loads(json.dumps(told))["code"] == "model_rate_limited"


class TestTimeLimit:
    def test_names_the_setting_of_the_role(self) -> None:
        caller = Caller(model="vllm/m", provider="vllm", timeout_seconds=120, role=ModelRole.ASSISTANT)
        error = friendly_error(TimeoutError(), caller)
        assert "HEADGATE_MODELS__ASSISTANT_PARAMS__TIMEOUT_SECONDS" in error.remedy
        assert "Settings, Models" in error.remedy

    def test_names_the_models_settings_for_a_step(self) -> None:
        error = friendly_error(TimeoutError(), CALLER)
        assert "`timeout_seconds` in the model's settings" in error.remedy
