"""Default models."""

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

_MODEL = re.compile(r"[^\s/]{1,64}/\S[^\r\n]{0,199}")


def _model_name(value: str) -> str:
    if value and _MODEL.fullmatch(value) is None:
        raise ValueError("write the model as provider/name or server/name")
    return value


ModelName = Annotated[str, AfterValidator(_model_name)]
"""`provider/name`, or empty."""
AssistantModel = Annotated[str, AfterValidator(lambda value: value if value == "offline" else _model_name(value))]


class ModelParameters(BaseModel, defer_build=True):
    """Parameters of a model, as far as its provider takes them."""

    temperature: float | None = Field(default=None, ge=0, le=2, description="Sampling temperature.")
    max_tokens: int | None = Field(default=None, ge=1, description="Maximum length of an answer, in tokens.")
    timeout_seconds: float | None = Field(
        default=None, gt=0, le=3600, description="Timeout of a model request. Empty: 120 seconds, 900 for `local`."
    )
    tool_shim: bool | None = Field(
        default=None, description="Send tools through a JSON schema, for servers without support for tool calls."
    )
    reasoning_effort: Literal["minimal", "low", "medium", "high"] | None = Field(
        default=None, description="Reasoning effort of the model."
    )


class ModelSettings(BaseModel, defer_build=True):
    """Models used when a flow or request names none. A choice made in Settings, Models comes before these."""

    default: ModelName = Field(
        default="", description="`provider/name`, or `server/name` of a named server. Empty: the first that is ready."
    )
    assistant: AssistantModel = Field(
        default="", description="Model of the assistant; `offline` for the offline builder. Empty: the default model."
    )
    step: ModelName = Field(
        default="",
        description="Model of steps without a model, and of steps that the assistant adds. Empty: the default model.",
    )
    fallback: list[ModelName] = Field(
        default_factory=list,
        description="Models that are asked in this order when that of the assistant, or the default of steps, cannot "
        'answer, as a JSON list: `["openai/gpt-5-mini", "vllm/qwen3-32b"]`. Empty: the assistant asks others of the '
        "same provider. The development agent does not use them.",
    )
    mirror: str = Field(
        default="",
        pattern=r"^(?:https?://[^\s?#]+)?$",
        description=(
            "URL of a folder with the files of local models, for servers without internet access: "
            "downloaded from `MIRROR/qwen2.5-coder-1.5b.gguf` only, verified by SHA-256. Empty: "
            "their publisher's repository."
        ),
    )
    default_params: ModelParameters = ModelParameters.model_construct()
    assistant_params: ModelParameters = ModelParameters.model_construct()
    codev_params: ModelParameters = ModelParameters.model_construct()
    step_params: ModelParameters = ModelParameters.model_construct()
