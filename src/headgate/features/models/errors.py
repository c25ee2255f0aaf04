"""Errors of models. Messages name provider, model and variable, never a key.

Invalid
├── UnknownProvider       no provider of that name
├── ProviderNotInstalled  its package is an extra that is not there
├── KeyMissing            the variable that holds its key is empty
├── BadModelSettings      a parameter it does not take
├── ModelLacksInput       an image, sound or document that the model does not take
├── BadModelFile          not a GGUF file
├── BadModelServer        a name or address that no model server has
└── ClassUnknown          no security class of that number or name
NotFound
├── LocalModelMissing     not pulled yet
├── ModelServerNotFound   no server of that name in the space or organisation
├── NotSetUp              nothing to remove: nothing was set
└── NotClassed            nobody gave the model a class
Unavailable
└── LocalModelFailed      the weights would not load
TooLarge
├── PromptTooLong         over the model's context window
└── InputTooLarge         a file over what the provider takes
RateLimited
├── ModelRateLimited      wait and try again
└── QuotaExhausted        pay or choose another
UpstreamFailed
├── PullFailed            weights could not be fetched or are not the right ones
└── ModelCallFailed       the provider failed (5xx, or an answer Headgate has no better name for)
    ├── ProviderFailed        5xx
    ├── ModelSkipped          failed a moment ago, and a fallback model is there
    ├── KeyRejected           401, 403
    ├── ModelNotAccessible    no such model, or not for this key
    ├── RequestRefused        400: a parameter, tool or schema the provider does not take
    ├── ModelTimedOut         no answer in time
    ├── ModelUnreachable      no connection, or dropped half way
    ├── BrokenModelAnswer     an answer that is not one
    └── AnswerWithheld        a content filter
"""

from headgate.foundation.errors import Invalid, NotFound, RateLimited, TooLarge, Unavailable, UpstreamFailed


class UnknownProvider(Invalid):
    """No provider has that name."""

    code = "unknown_provider"
    title = "Unknown model provider"


class ProviderNotInstalled(Invalid):
    """The provider's package is an extra that is not installed."""

    code = "provider_not_installed"
    title = "Model provider not installed"


class KeyMissing(Invalid):
    """The variable that should hold the provider's key is not set."""

    code = "model_key_missing"


class ClassUnknown(Invalid):
    """A security class, or a model to be classed, that cannot be."""

    code = "class_unknown"
    title = "Unknown classification"


class NotClassed(NotFound):
    """The tenant has not classified the model."""

    code = "model_not_classed"
    title = "Model has no classification"
    remedy = "`headgate models classes list` shows the classifications."

    def __init__(self, provider: str, name: str) -> None:
        super().__init__(f"{provider}/{name[:200]} has no separate classification.")


class BadModelSettings(Invalid):
    """A model parameter that the provider does not take, or out of range."""

    code = "bad_model_settings"
    title = "Wrong model settings"


class BadModelServer(Invalid):
    """A name, address or header that no model server has."""

    code = "bad_model_server"
    title = "Wrong model server"


class ModelServerNotFound(NotFound):
    """The space or organisation has no such server."""

    code = "model_server_not_found"
    remedy = "`headgate models servers list` shows the model servers."

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no model server '{name[:64]}' here.")


class NotSetUp(NotFound):
    """There is nothing to remove."""

    code = "model_not_set_up"
    title = "Nothing set"


class ModelLacksInput(Invalid):
    """The model does not take this kind of file. Carries `lacks` and `models`, some that do."""

    code = "model_lacks_input"
    title = "Input not supported by the model"


class BadModelFile(Invalid):
    """A file that is not a GGUF model."""

    code = "bad_model_file"
    title = "Not a model file"


class LocalModelMissing(NotFound):
    """A local model that is not on this machine yet."""

    code = "local_model_missing"
    title = "Local model not installed"


class LocalModelFailed(Unavailable):
    """A local model that would not load."""

    code = "local_model_failed"
    title = "Local model failed to load"


class PromptTooLong(TooLarge):
    """The prompt does not fit the model's context window."""

    code = "prompt_too_long"
    title = "Prompt too long for the model"


class InputTooLarge(TooLarge):
    """A file is larger than the model's provider takes."""

    code = "model_input_too_large"
    title = "File too large for the model"


class ModelRateLimited(RateLimited):
    """The provider requests a pause. `retry_after_seconds` is set when it is known; `requests` were sent."""

    code = "model_rate_limited"


class QuotaExhausted(RateLimited):
    """The account behind the key has nothing left to spend; waiting does not help."""

    code = "model_quota_exhausted"


class PullFailed(UpstreamFailed):
    """Weights that could not be fetched, or were not the right ones."""

    code = "model_pull_failed"
    title = "Model download failed"


class ModelCallFailed(UpstreamFailed):
    """The provider failed at answering."""

    code = "model_call_failed"


class ProviderFailed(ModelCallFailed):
    """The provider failed on its side (5xx)."""


class ModelSkipped(ModelCallFailed):
    """The model failed recently, and another one is used instead."""

    code = "model_skipped"


class KeyRejected(ModelCallFailed):
    """The provider does not accept the key."""

    code = "model_key_rejected"


class ModelNotAccessible(ModelCallFailed):
    """The model does not exist, or not for this key: another model of the provider may still do."""

    code = "model_not_accessible"


class RequestRefused(ModelCallFailed):
    """The provider calls the request wrong."""

    code = "model_request_refused"
    title = "Request rejected by the model"


class ModelTimedOut(ModelCallFailed):
    """No answer within the time set."""

    code = "model_timed_out"


class ModelUnreachable(ModelCallFailed):
    """The connection failed or was interrupted."""

    code = "model_unreachable"


class BrokenModelAnswer(ModelCallFailed):
    """An answer that is not what the provider's protocol promises."""

    code = "broken_model_answer"
    title = "Invalid model response"
    words: str = ""
    """The model's text, when it did not match the required schema. Never sent to a client."""

    used: tuple[int, int] = (0, 0)
    """Tokens in and out of the answer, where they are known: it was paid for like any other."""

    def saying(self, words: str, used: tuple[int, int] = (0, 0)) -> "BrokenModelAnswer":
        """Return the error with what the model wrote, and what that used."""
        self.words, self.used = words, used
        return self


class AnswerWithheld(ModelCallFailed):
    """The provider's content filter withheld the output."""

    code = "model_answer_withheld"
    title = "Answer withheld"
