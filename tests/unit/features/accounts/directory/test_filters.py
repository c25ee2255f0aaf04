"""Filters and paths of SCIM, read and applied to a document."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.features.accounts.directory.errors import ScimInvalid
from headgate.features.accounts.directory.scim.filters import (
    Among,
    Both,
    Comparison,
    Either,
    Not,
    Path,
    Present,
    parse_filter,
    parse_path,
)
from headgate.features.accounts.directory.scim.patch import apply, holds, operations_of

CORE = "urn:ietf:params:scim:schemas:core:2.0:User:"
EXTENSION = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department"
TITLE, NAME = Present("title"), Comparison("username", "eq", "b")


def fault_of(parse: Callable[[str], object], text: str) -> str | None:
    """Why a text is refused; None for one that is read."""
    try:
        parse(text)
    except ScimInvalid as error:
        return error.scim_type
    return None


class TestFilters:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('userName Eq "b"', NAME),
            (f'{CORE}userName eq "b"', NAME),
            ("active eq TRUE", Comparison("active", "eq", True)),
            ("age ge -12.5", Comparison("age", "ge", -12.5)),
            ("age lt 1200", Comparison("age", "lt", 1200)),
            ("manager eq null", Comparison("manager", "eq", None)),
            (r'name.familyName sw "O\"Mal\u00e5"', Comparison("name.familyname", "sw", 'O"Malå')),
            ('title pr and userName eq "b" or title pr', Either(Both(TITLE, NAME), TITLE)),
            ('title pr and (userName eq "b" or not(title pr))', Both(TITLE, Either(NAME, Not(TITLE)))),
            ('emails[type eq "work" and value co "@"]', Among("emails", Both(
                Comparison("type", "eq", "work"), Comparison("value", "co", "@")))),
            (f'{EXTENSION} eq "x"', Comparison(EXTENSION.lower(), "eq", "x")),
            ('and eq "x"', Comparison("and", "eq", "x")),
        ],
    )  # fmt: skip
    def test_are_read_with_their_precedence(self, text: str, expected: object) -> None:
        assert parse_filter(text) == expected

    @given(st.text(alphabet=' ()[]".\\:$anot reqpd1-é\x00', max_size=60))
    def test_that_cannot_be_read_are_refused_and_nothing_else(self, text: str) -> None:
        assert fault_of(parse_filter, text) in {None, "invalidFilter"}
        assert fault_of(parse_path, text) in {None, "invalidPath"}

    def test_are_bounded(self) -> None:
        parse_filter("(" * 20 + "a pr" + ")" * 20)
        for text in ("(" * 21 + "a pr" + ")" * 21, "a pr" + " or a pr" * 100, 'a eq "' + "x" * 4000 + '"'):
            with pytest.raises(ScimInvalid):
                parse_filter(text)


class TestPaths:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("active", Path("active")),
            ("name.givenName", Path("name", sub="givenname")),
            (f"{CORE}name.givenName", Path("name", sub="givenname")),
            (EXTENSION, Path(EXTENSION.lower())),
            ('members[value eq "1"]', Path("members", Comparison("value", "eq", "1"))),
            ('emails[type eq "work"].value', Path("emails", Comparison("type", "eq", "work"), "value")),
        ],
    )
    def test_are_read(self, text: str, expected: Path) -> None:
        assert parse_path(text) == expected


WORK, HOME = {"type": "work", "value": "a@w"}, {"type": "home", "value": "a@h"}


def patched(document: dict[str, Any], *operations: dict[str, Any]) -> dict[str, Any]:
    apply(document, operations_of({"operations": list(operations)}))
    return document


class TestPatch:
    def test_changes_values_that_fit(self) -> None:
        emails = [dict(WORK), dict(HOME)]
        operation = {"op": "Replace", "path": 'emails[type eq "HOME"].value', "value": "b@h"}
        assert patched({"emails": emails}, operation)["emails"] == [WORK, {**HOME, "value": "b@h"}]

    def test_makes_a_value_that_is_not_there_from_the_filter(self) -> None:
        operation = {"op": "Add", "path": 'emails[type eq "work" and primary eq true].value', "value": "b@w"}
        assert patched({}, operation)["emails"] == [{"type": "work", "primary": True, "value": "b@w"}]

    def test_removes_by_filter_by_value_and_whole(self) -> None:
        emails = {"emails": [WORK, HOME]}
        assert patched(dict(emails), {"op": "remove", "path": 'emails[type eq "work"]'})["emails"] == [HOME]
        assert patched(dict(emails), {"op": "Remove", "path": "emails", "value": [HOME]})["emails"] == [WORK]
        assert patched(dict(emails), {"op": "remove", "path": "emails"}) == {}

    def test_splits_a_value_without_a_path(self) -> None:
        value = {"name.givenname": "A", "name": {"familyname": "B"}, "active": False}
        assert patched({}, {"op": "replace", "value": value}) == {
            "name": {"givenname": "A", "familyname": "B"},
            "active": False,
        }

    def test_adds_one_primary_value(self) -> None:
        operation = {"op": "add", "path": "emails", "value": {**HOME, "primary": True}}
        found = patched({"emails": [{**WORK, "primary": True}]}, operation)["emails"]
        assert found == [WORK, {**HOME, "primary": True}]

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ('type eq "WORK"', True),
            ('type ne "work"', False),
            ("value pr and not (display pr)", True),
            ('value ew "w" or missing gt "a"', True),
            ("missing eq null", True),
        ],
    )
    def test_knows_which_values_fit(self, text: str, *, expected: bool) -> None:
        assert holds(parse_filter(text), WORK) is expected
