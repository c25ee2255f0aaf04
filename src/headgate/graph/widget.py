"""Embedding of a published flow on other sites: `settings.widget` of a flow, as plain values."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from headgate.graph.issues import Issue, IssueCode
from headgate.graph.model import Flow

ANYWHERE = "*"
_ORIGIN = re.compile(r"https?://(\[[0-9a-f:.]+\]|(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*)(:[0-9]{1,5})?")
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")


def _origin(value: str) -> str:
    origin = value.strip().lower().removesuffix("/")
    if origin != ANYWHERE and (len(origin) > 300 or _ORIGIN.fullmatch(origin) is None):
        raise ValueError("an origin is written https://www.example.org, without a path; * allows every page")
    return origin


def _colour(value: str) -> str:
    if _COLOUR.fullmatch(value) is None:
        raise ValueError("a colour is written #rrggbb")
    return value.lower()


Origin = Annotated[str, AfterValidator(_origin)]
Colour = Annotated[str, AfterValidator(_colour)]
Question = Annotated[str, Field(min_length=1, max_length=200)]


class WidgetSettings(BaseModel):
    """What `settings.widget` may say."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = False
    kind: Literal["form", "chat"] = "form"
    color: Colour = "#0f766e"
    theme: Literal["light", "dark", "auto"] = "auto"
    title: str = Field(default="", max_length=120)
    welcome_text: str = Field(default="", max_length=2_000)
    questions: tuple[Question, ...] = Field(default=(), max_length=6)
    """Suggested first messages of a chat."""
    origins: tuple[Origin, ...] = Field(default=(), max_length=50)
    """Origins that may embed it; empty: only its own."""


def read_widget(settings: Mapping[str, JsonValue]) -> WidgetSettings:
    """Return the settings as a value. Raises `ValueError` with the fault."""
    try:
        return WidgetSettings.model_validate(dict(settings))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        location = ".".join(str(part) for part in first["loc"])
        raise ValueError(f"'{location}': {str(first['msg']).removeprefix('Value error, ')}") from error


def widget_issues(flow: Flow) -> Iterator[Issue]:
    """Yield what prevents a flow with a widget from being published."""
    if not flow.settings.widget:
        return
    try:
        read_widget(flow.settings.widget)
    except ValueError as error:
        message = f"The flow's widget is not valid at {error}."
        yield Issue(IssueCode.INVALID_VALUE, message, "Correct it in the widget's settings.")
