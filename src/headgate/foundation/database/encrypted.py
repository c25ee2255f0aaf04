"""Columns that hold ciphertext. Rotation finds them by their type, so a new one is covered at once."""

from importlib import import_module
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Dialect, LargeBinary, Text
from sqlalchemy.types import TypeDecorator

from headgate.foundation.ciphertexts import MARK
from headgate.foundation.database.tables import metadata

_PACKAGE = Path(__file__).parents[2]


class Encrypted(TypeDecorator[bytes]):
    """Bytes that `SecretBox.encrypt` made. Anything else is refused, so that nothing is stored in the clear."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: bytes | None, dialect: Dialect) -> bytes | None:  # noqa: ARG002
        """The same bytes. Raises `ValueError` for what is no ciphertext."""
        if value is not None and not value.startswith(MARK):
            raise ValueError("a column of ciphertext takes what SecretBox.encrypt made")
        return value


class EncryptedText(TypeDecorator[str]):
    """The same as text; an empty text stands for none."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        """The same text. Raises `ValueError` for what is no ciphertext."""
        if value and not value.startswith(MARK.decode()):
            raise ValueError("a column of ciphertext takes what SecretBox.encrypt made")
        return value


def encrypted_columns() -> list[Column[Any]]:
    """Every column of ciphertext, by table and name.

    Imports every module `tables` of the package first: a process knows the tables only that it has used, and a
    rotation must pass by none.
    """
    for path in sorted(_PACKAGE.rglob("tables.py")):
        parts = path.relative_to(_PACKAGE).with_suffix("").parts
        import_module(".".join((_PACKAGE.name, *parts)))
    columns = [column for table in metadata.tables.values() for column in table.columns]
    encrypted = [column for column in columns if isinstance(column.type, Encrypted | EncryptedText)]
    return sorted(encrypted, key=lambda column: (column.table.name, column.name))
