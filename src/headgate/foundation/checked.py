"""Models made of what somebody gave, outside of HTTP, where FastAPI does this."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from headgate.foundation.errors import Invalid

M = TypeVar("M", bound=BaseModel)


def checked(model: type[M], /, **members: Any) -> M:  # noqa: ANN401 - checked here
    """The model of these members. Raises `Invalid` with the first fault, and without what was given."""
    try:
        return model(**members)
    except ValidationError as error:
        # Of a union the last alternative is the one with bounds.
        fault = error.errors(include_input=False, include_url=False)[-1]
        message = fault["msg"].removeprefix("Value error, ")
        raise Invalid(f"{fault['loc'][0] if fault['loc'] else 'input'}: {message}.") from error
