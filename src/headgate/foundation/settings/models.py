"""Models used when nothing names one."""

from pydantic import BaseModel, Field


class ModelSettings(BaseModel, defer_build=True):
    """Models used when a flow or request names none."""

    default: str = Field(default="", description="`provider/name` to use. Empty: the first configured one.")
    assistant: str = Field(
        default="", description="Model of the assistant; `offline` for the offline builder. Empty: the default model."
    )
