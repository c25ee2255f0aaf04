"""What polls of folders and tables take as new: nothing incomplete, nothing twice, and no row that was added late."""

import random
import sqlite3
from typing import Any, cast

import pytest

from headgate.features.triggers.errors import TriggerInvalid
from headgate.features.triggers.poll_settings import RowsConfig
from headgate.features.triggers.polling import databases
from headgate.features.triggers.polling.context import PollContext
from headgate.features.triggers.polling.cursor import Cursor, cursor_of, fresh_of, settle
from headgate.sdk import Table

SECOND = 1_000_000
NO_CONTEXT = cast("PollContext", None)


class TestSettle:
    def test_a_key_counts_once_it_has_been_there_for_a_while(self) -> None:
        first, cursor = settle(["a:1"], None, 0, 5 * SECOND)
        again, cursor = settle(["a:1"], cursor_of(cast("Cursor", cursor).text()), 4 * SECOND, 5 * SECOND)
        later, cursor = settle(["a:1"], cursor, 5 * SECOND, 5 * SECOND)
        assert (first, again, later) == ([False], [False], [True])
        assert cast("Cursor", cursor).unsettled == {}

    def test_content_that_changes_begins_anew(self) -> None:
        _, cursor = settle(["a:1"], None, 0, 5 * SECOND)
        settled, cursor = settle(["a:2"], cursor, 9 * SECOND, 5 * SECOND)
        assert settled == [False]
        assert settle(["a:2"], cursor, 14 * SECOND, 5 * SECOND)[0] == [True]

    def test_what_was_handled_waits_for_nothing(self) -> None:
        handled = fresh_of(["a:1"], None, most=9, all_at_first=False).cursor
        assert settle(["a:1"], handled, 0, 5 * SECOND)[0] == [True]

    def test_a_clock_that_was_ahead_delays_nothing(self) -> None:
        _, cursor = settle(["a:1"], None, 3_600 * SECOND, 5 * SECOND)
        _, cursor = settle(["a:1"], cursor, 0, 5 * SECOND)
        assert settle(["a:1"], cursor, 5 * SECOND, 5 * SECOND)[0] == [True]


class Rows:
    """A table in a real database, and a trigger that polls it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **config: Any) -> None:
        self.db = sqlite3.connect(":memory:")
        self.db.execute("CREATE TABLE orders (no INTEGER PRIMARY KEY, day TEXT NOT NULL)")
        members = {"connection": "db", "sql": "SELECT * FROM orders", "cursor_column": "no"} | config
        self.config = RowsConfig.model_validate(members)
        self.cursor: Cursor | None = None
        self.started: list[int] = []
        monkeypatch.setattr(databases, "_table", self.table)

    async def table(self, _ctx: object, config: RowsConfig, sql: str, parameters: dict[str, Any]) -> Table:
        rows = self.db.execute(databases._completed(sql, config, "sqlite"), parameters)
        columns = tuple(str(one[0]) for one in rows.description)
        return Table(columns=columns, rows=tuple(rows.fetchall()))

    def add(self, *numbers: int, day: str = "") -> None:
        self.db.executemany("INSERT INTO orders VALUES (?, ?)", [(number, day or str(number)) for number in numbers])

    async def poll(self) -> list[int]:
        """Poll until nothing more is new at once; what started."""
        started: list[int] = []
        for _ in range(100):
            result = await databases.read_rows(NO_CONTEXT, self.config, self.cursor)
            self.cursor = cursor_of(result.cursor.text())
            started += [int(item.value["no"]) for item in cast("Any", result.items)]
            if not result.more:
                break
        else:
            raise AssertionError("the poll never ends")
        self.started += started
        return started


class TestRows:
    async def test_a_row_that_is_added_late_with_a_lower_key_starts_one_run(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rows = Rows(monkeypatch, look_back=5)
        rows.add(1, 2)
        assert await rows.poll() == []
        rows.add(7, 8, 9)
        assert await rows.poll() == [7, 8, 9]
        rows.add(5)
        rows.add(10)
        assert await rows.poll() == [5, 10]
        assert await rows.poll() == []

    async def test_a_row_further_back_starts_nothing_and_so_does_one_from_before(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rows = Rows(monkeypatch, look_back=2)
        rows.add(1, 5, 6, 7)
        assert await rows.poll() == []
        rows.db.execute("DELETE FROM orders WHERE no > 5")
        rows.add(2)
        assert await rows.poll() == []
        rows.add(8)
        assert await rows.poll() == [8]

    async def test_without_a_look_back_only_rows_from_the_last_value_on_are_new(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rows = Rows(monkeypatch, look_back=0, cursor_column="day", key_column="no")
        rows.add(1, 2, day="b")
        assert await rows.poll() == []
        rows.add(3, day="b")
        rows.add(4, day="a")
        rows.add(5, day="c")
        assert await rows.poll() == [3, 5]

    async def test_a_row_that_is_away_for_a_while_starts_no_second_run(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rows = Rows(monkeypatch, look_back=5, first="all")
        rows.add(1, 2, 3)
        assert await rows.poll() == [1, 2, 3]
        rows.db.execute("DELETE FROM orders WHERE no = 2")
        rows.add(4)
        assert await rows.poll() == [4]
        rows.add(2)
        assert await rows.poll() == []

    async def test_a_cursor_of_an_earlier_version_continues(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rows = Rows(monkeypatch)
        rows.add(1, 2, 3)
        rows.cursor = cursor_of('{"seen":["4e07408562bedb8b"],"value":3,"count":0,"unconfirmed":[]}')
        rows.add(4)
        assert await rows.poll() == [4]

    async def test_too_many_rows_with_one_value_are_refused(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rows = Rows(monkeypatch, cursor_column="day", key_column="no", look_back=0)
        rows.add(*range(1_002), day="a")
        with pytest.raises(TriggerInvalid, match="one value of the cursor column 'day'"):
            await rows.poll()

    @pytest.mark.parametrize("seed", range(30))
    async def test_rows_that_are_added_in_any_order_start_one_run_each(
        self, monkeypatch: pytest.MonkeyPatch, seed: int
    ) -> None:
        dice = random.Random(seed)
        look_back, first = dice.choice((1, 3, 10)), dice.choice(("now", "all"))
        by_day = dice.random() < 0.5
        column = {"cursor_column": "day", "key_column": "no"} if by_day else {}
        rows = Rows(monkeypatch, look_back=look_back, first=first, most=dice.choice((1, 2, 50)), **column)
        waiting, added, numbers = list[int](), set[int](), iter(range(400))
        old = [next(numbers) for _ in range(dice.choice((0, 1, 5, 20)))]
        for number in old:
            rows.add(number, day=f"{number // 3:04}")
        await rows.poll()
        for number in numbers:
            # At most `look_back` rows become visible before one with a lower number.
            waiting.append(number)
            while waiting and (number - waiting[0] >= look_back or dice.random() < 0.5):
                late = waiting.pop(0 if number - waiting[0] >= look_back else dice.randrange(len(waiting)))
                rows.add(late, day=f"{late // 3:04}")
                added.add(late)
            if dice.random() < 0.3:
                await rows.poll()
        await rows.poll()
        assert sorted(rows.started) == sorted(added | (set(old) if first == "all" else set()))
