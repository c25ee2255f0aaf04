"""What travels in a flow under construction: values with a kind, and queries not yet made into a step."""

from dataclasses import dataclass, field, replace
from typing import Literal

Kind = Literal["text", "items", "table", "record", "data", "number", "file"]
"""text: a string; items: a list of texts; record: one object; data: any JSON; table: rows; file: a stored file."""


@dataclass(frozen=True, slots=True)
class Query:
    """The parts of one SELECT; steps of a sentence that fit into one query share it."""

    select: tuple[str, ...] = ()
    where: tuple[str, ...] = ()
    group: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    limit: int | None = None
    soft_limit: bool = False
    """Whether the limit is only assumed, so that a later one replaces it."""
    distinct: bool = False
    aggregated: bool = False
    offset: int = 0
    open_order: bool = False
    """Whether nobody said in which direction, so that `top 10` decides it."""

    def sql(self) -> str:
        """The query as text, over table `t`."""
        parts = [f"SELECT {'DISTINCT ' if self.distinct else ''}{', '.join(self.select) or '*'} FROM t"]  # noqa: S608 - quoted pieces
        if self.where:
            parts.append("WHERE " + " AND ".join(self.where))
        if self.group:
            parts.append("GROUP BY " + ", ".join(self.group))
        if self.order:
            parts.append("ORDER BY " + ", ".join(self.order))
        if self.limit is not None:
            parts.append(f"LIMIT {self.limit}" + (f" OFFSET {self.offset}" if self.offset else ""))
        return " ".join(parts)


@dataclass(slots=True, eq=False)
class Value:
    """A result: where it comes out of the flow, what it is, and the words that may refer to it.

    `query` is set while the value is a query on (`node`, `port`) that no step runs yet.
    """

    kind: Kind
    node: str = ""
    port: str = ""
    tags: frozenset[str] = frozenset()
    label: str = ""
    unit: str = ""
    """What one item is, as a sense: `u.line`, `t.email`."""
    columns: tuple[str, ...] | None = None
    """Column names when they are known."""
    shown: tuple[str, ...] | None = None
    """The columns that the pending query gives, when it chooses among `columns`."""
    by: tuple[str, ...] = ()
    """What the rows were grouped by."""
    before: "Value | None" = field(default=None, repr=False)
    """The rows before they were grouped."""
    other: "tuple[str, str] | None" = None
    """For a value of one way of a choice: the output that is live when this one is not."""
    origin: "Value | None" = field(default=None, repr=False)
    """The text that a list was found in."""
    wanted: bool = False
    """Whether it was asked to be seen, so that using it further does not hide it."""
    implicit: bool = False
    """Whether the rows were grouped without saying what figure to take."""
    plain: bool = False
    """Whether it is all of its kind, nothing filtered out."""
    query: Query | None = None
    text_port: str = ""
    """An output of the same step that gives the value as readable text."""
    source: str = ""
    """The sense of the source this is, when it is one: `s.file`."""
    of_branch: bool = False
    """Whether it exists only on some ways of the run."""
    consumed: bool = False
    result: bool = True
    """Whether it is something the user may want to see; a plain source is not."""
    last_column: str = ""
    """The column spoken of last, for `sort it` and `for each one`."""
    single: str = ""
    """The only column, when a table stands for a list of texts."""
    realised: "Value | None" = field(default=None, repr=False)

    def like(self, **changes: object) -> "Value":
        """A new value that differs in these members, not yet consumed."""
        fresh: dict[str, object] = {"consumed": False, "realised": None, **changes}
        return replace(self, **fresh)  # type: ignore[arg-type]
