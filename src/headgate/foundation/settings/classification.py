"""Settings of security classes."""

from typing import Annotated, Self

from pydantic import BaseModel, Field, StringConstraints, model_validator

ClassName = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)]


class ClassificationSettings(BaseModel, defer_build=True):
    """Security classes of data and models. Off: nothing is classed, checked or shown."""

    enabled: bool = Field(default=False, description="Classify models and steps, and reject violations of the rules.")
    levels: list[ClassName] = Field(
        default=["K0 public", "K1 internal", "K2 confidential", "K3 secret"],
        min_length=2,
        max_length=5,
        description="Names of the classifications, from public to most sensitive; the first is level 0.",
    )
    external_max: int = Field(default=1, ge=0, le=4, description="Highest classification that may be sent out.")
    default_model_level: int = Field(default=0, ge=0, le=4, description="Clearance of models without a classification.")
    local_model_level: int | None = Field(
        default=None, ge=0, le=4, description="Clearance of models that run inside Headgate. Empty: the highest."
    )
    input_level: int = Field(
        default=0, ge=0, le=4, description=("Classification of a run's input, unless the flow sets one.")
    )

    @model_validator(mode="after")
    def _within_levels(self) -> Self:
        highest = len(self.levels) - 1
        for name in ("external_max", "default_model_level", "local_model_level", "input_level"):
            level = getattr(self, name)
            if level is not None and level > highest:
                raise ValueError(f"{name} is {level}, and the highest level is {highest}")
        return self
