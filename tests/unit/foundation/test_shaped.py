from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from pydantic import BaseModel, ValidationError

from headgate.foundation.shaped import shaped


@dataclass
class Row:
    id: str = "a"
    size: int = 7
    created_at: int = 1_500_000
    ended_at: int | None = None
    changed_at: datetime = datetime(2026, 1, 2, tzinfo=UTC)
    secret: str = "hidden"
    tags: list[str] = field(default_factory=list)


class Out(BaseModel):
    id: str
    size: int
    created_at: datetime
    ended_at: datetime | None
    changed_at: datetime
    name: str
    note: str = "none"


class TestShaped:
    def test_takes_the_attributes_of_the_same_names_and_the_given_members(self) -> None:
        assert shaped(Out, Row(), name="n", size=8).model_dump() == {
            "id": "a",
            "size": 8,
            "created_at": datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC),
            "ended_at": None,
            "changed_at": datetime(2026, 1, 2, tzinfo=UTC),
            "name": "n",
            "note": "none",
        }

    def test_reads_microseconds_of_a_field_that_may_be_null(self) -> None:
        assert shaped(Out, Row(ended_at=0), name="n").ended_at == datetime(1970, 1, 1, tzinfo=UTC)

    def test_refuses_an_object_without_a_required_field(self) -> None:
        with pytest.raises(ValidationError, match="name"):
            shaped(Out, Row())
