"""Validates input into models outside of HTTP, where FastAPI does it."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from headgate.foundation.errors import Invalid

M = TypeVar("M", bound=BaseModel)


def checked(model: type[M], /, **members: Any) -> M:  # noqa: ANN401 - checked here
    """Return the validated model. Raises `Invalid` with the first error, without the input."""
    try:
        return model(**members)
    except ValidationError as error:
        # In a union, the last alternative is the one with bounds.
        fault = error.errors(include_input=False, include_url=False)[-1]
        message = fault["msg"].removeprefix("Value error, ")
        raise Invalid(f"{fault['loc'][0] if fault['loc'] else 'input'}: {message}.") from error
