"""Builds API models of rows and other objects whose attributes have the names of the model's fields."""

from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel

from headgate.foundation.database import moment

M = TypeVar("M", bound=BaseModel)


def shaped(model: type[M], source: object, /, **members: Any) -> M:  # noqa: ANN401 - checked by the model
    """Return a model with these members, and for its other fields the attributes of an object with the same names.

    A field that the object lacks has its default. A time in microseconds becomes a datetime where the field is one.
    Raises `ValidationError`.
    """
    own = {
        name: _value(field.annotation, getattr(source, name))
        for name, field in model.model_fields.items()
        if name not in members and hasattr(source, name)
    }
    return model.model_validate(own | members)


def _value(annotation: object, value: object) -> object:
    return moment(value) if isinstance(value, int) and annotation in {datetime, datetime | None} else value
