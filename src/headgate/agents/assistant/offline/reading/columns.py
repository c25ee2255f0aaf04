"""Columns of a table as they are named, and calculations with them."""

from dataclasses import dataclass

from headgate.agents.assistant.offline.language.languages import Language
from headgate.agents.assistant.offline.language.messages import message


@dataclass(frozen=True, slots=True)
class Column:
    """A column as it was named. `missing`: the data is known and has no such column."""

    name: str
    missing: bool = False

    def describe(self, _language: Language) -> str:
        """The name."""
        return f"'{self.name}'"


@dataclass(frozen=True, slots=True)
class Formula:
    """Two columns or numbers and what is done with them; `percent`: the second is a share of the first."""

    left: Column | float
    sign: str
    right: Column | float
    percent: bool = False

    def describe(self, language: Language) -> str:
        """The calculation in words."""
        share = f" {message('percent', language)}" if self.percent else ""
        return f"{self._shown(self.left)} {self.sign} {self._shown(self.right)}{share}"

    @staticmethod
    def _shown(part: Column | float) -> str:
        return f"'{part.name}'" if isinstance(part, Column) else f"{part:g}"

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns in it."""
        return tuple(part for part in (self.left, self.right) if isinstance(part, Column))
