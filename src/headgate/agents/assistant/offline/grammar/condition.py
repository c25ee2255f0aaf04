"""What a condition is, once it is read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison, or several joined by `and` or `or`.

    `subject` is the span of tokens that says what is compared, `column` its words without articles; empty means the
    value at hand. `measure` says what of it is compared: the value itself, how many there are, or how long it is.
    """

    operator: str
    value: str | float | None = None
    subject: tuple[int, int] = (0, 0)
    column: str = ""
    negated: bool = False
    quantifier: str = ""
    measure: str = ""
    unit: str = ""
    upper: float | None = None
    exact: bool = True
    """Whether upper and lower case matter: the value was quoted or holds capitals."""
    others: tuple["Condition", ...] = ()
    joined: str = ""
