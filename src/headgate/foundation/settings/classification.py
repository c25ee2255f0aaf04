"""Settings of security classes."""

from typing import Annotated, Self

from pydantic import BaseModel, Field, StringConstraints, model_validator

ClassName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]


class ClassificationSettings(BaseModel, defer_build=True):
    """Security classes of data and models. Off: nothing is classed, checked or shown."""

    enabled: bool = Field(default=False, description="Class models and steps, and refuse what breaks the rules.")
    levels: list[ClassName] = Field(
        default=["K0 public", "K1 internal", "K2 confidential", "K3 secret"],
        min_length=2,
        max_length=5,
        description="Names of the classes, the most open first; the first is class 0.",
    )
    external_max: int = Field(default=1, ge=0, le=4, description="Highest class that may be sent out.")
    default_model_level: int = Field(default=0, ge=0, le=4, description="Class of models that nobody classed.")
    local_model_level: int | None = Field(
        default=None, ge=0, le=4, description="Class of models that run inside Headgate. Empty: the highest."
    )
    input_level: int = Field(default=0, ge=0, le=4, description="Class of a run's input where the flow does not say.")

    @model_validator(mode="after")
    def _within_levels(self) -> Self:
        highest = len(self.levels) - 1
        for name in ("external_max", "default_model_level", "local_model_level", "input_level"):
            level = getattr(self, name)
            if level is not None and level > highest:
                raise ValueError(f"{name} is {level}, and the highest level is {highest}")
        return self
