"""What `make test` leaves to `make test-faults`."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.support import selection


def case(name: str, database: str = "", *markers: str) -> Any:
    """A collected test, as far as the selection looks at it."""
    node = f"tests/test_it.py::{name}" + (f"[{database}]" if database else "")
    spec = {"callspec": SimpleNamespace(params={"settings": database})} if database else {}
    return SimpleNamespace(nodeid=node, get_closest_marker=lambda marker: marker in markers, **spec)


def names(items: list[Any], markers: str = "") -> list[str]:
    """The tests that a run leaves out."""
    config: Any = SimpleNamespace(option=SimpleNamespace(markexpr=markers))
    return [item.nodeid.partition("::")[2] for item in selection.left_out(config, items)]


@pytest.fixture(autouse=True)
def usual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selection, "THOROUGH", False)


class TestSelection:
    def test_runs_each_test_on_one_of_both_databases(self) -> None:
        pairs = [case(f"test_{number}", database) for number in range(100) for database in selection.DATABASES]
        left = names(pairs)
        assert len({name.partition("[")[0] for name in left}) == len(left) == 100
        on_postgres = sum("postgres" in name for name in left)
        assert 25 < on_postgres < 75, "which one follows from the name, as evenly as names are"
        assert names(pairs) == left

    def test_runs_on_both_what_differs_and_what_comes_for_one_alone(self) -> None:
        both = [case("test_locks", database, "both_databases") for database in selection.DATABASES]
        assert names([*both, case("test_files", "sqlite"), case("test_pure")]) == []

    def test_leaves_out_campaigns(self) -> None:
        items = [case("test_deaths", "", "campaign"), case("test_death")]
        assert names(items) == ["test_deaths"]

    def test_leaves_out_nothing_of_a_thorough_run_or_of_markers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        items = [case("test_deaths", "", "campaign"), *(case("test_it", database) for database in selection.DATABASES)]
        assert names(items, "campaign") == []
        monkeypatch.setattr(selection, "THOROUGH", True)
        assert names(items) == []
