"""Values of TDS: parameters of a procedure, and columns of a result."""

import struct
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

_COLLATION = b"\x09\x04\xd0\0\x34"
_FIRST_DAY = date(1, 1, 1).toordinal()


def parameters(content: bytes) -> tuple[str, dict[str, Any]]:
    """Return the SQL and the named values of a call of sp_executesql."""
    position = 6  # its number, and flags
    values: list[tuple[str, Any]] = []
    while position < len(content):
        length = content[position]
        name = content[position + 1 : position + 1 + 2 * length].decode("utf-16-le")
        value, position = _value(content, position + 2 + 2 * length)
        values.append((name.removeprefix("@"), value))
    return values[0][1], dict(values[2:])


def _value(content: bytes, at: int) -> tuple[Any, int]:
    kind = content[at]
    if kind == 0xE7:
        (size,) = struct.unpack_from("<H", content, at + 1)
        at += 8
        if size != 0xFFFF:
            (length,) = struct.unpack_from("<H", content, at)
            return content[at + 2 : at + 2 + length].decode("utf-16-le"), at + 2 + length
        text, at = b"", at + 8
        while (length := struct.unpack_from("<I", content, at)[0]) != 0:
            text, at = text + content[at + 4 : at + 4 + length], at + 4 + length
        return text.decode("utf-16-le"), at + 4
    if kind in {0x6C, 0x6A}:
        scale, length, sign = content[at + 3], content[at + 4], content[at + 5]
        number = Decimal(int.from_bytes(content[at + 6 : at + 5 + length], "little")).scaleb(-scale)
        return number if sign else -number, at + 5 + length
    length = content[at + 2]
    raw = content[at + 3 : at + 3 + length]
    if kind == 0x6D:
        return struct.unpack("<d", raw)[0], at + 3 + length
    return (bool(raw[0]) if kind == 0x68 else int.from_bytes(raw, "little", signed=True)), at + 3 + length


def columns_and_rows(names: Sequence[str], kinds: Sequence[str], found: Sequence[Sequence[Any]]) -> bytes:
    """Return COLMETADATA and ROW tokens of a result of DuckDB."""
    tokens = b"\x81" + struct.pack("<H", len(names))
    for name, kind in zip(names, kinds, strict=True):
        tokens += struct.pack("<IH", 0, 1) + _TYPES.get(kind.partition("(")[0], _TYPES["VARCHAR"])(kind)
        tokens += bytes([len(name)]) + name.encode("utf-16-le")
    return tokens + b"".join(
        b"\xd1" + b"".join(_written(kind.partition("(")[0], value) for kind, value in zip(kinds, row, strict=True))
        for row in found
    )


def _decimal_type(kind: str) -> bytes:
    precision, scale = kind.partition("(")[2].rstrip(")").split(",")
    return bytes([0x6A, 17, int(precision), int(scale)])


_TYPES: dict[str, Callable[[str], bytes]] = {
    "INTEGER": lambda _: b"\x26\x04",
    "BIGINT": lambda _: b"\x26\x08",
    "BOOLEAN": lambda _: b"\x68\x01",
    "DOUBLE": lambda _: b"\x6d\x08",
    "FLOAT": lambda _: b"\x6d\x08",
    "DECIMAL": _decimal_type,
    "DATE": lambda _: b"\x28",
    "TIME": lambda _: b"\x29\x06",
    "TIMESTAMP": lambda _: b"\x2a\x06",
    "TIMESTAMP WITH TIME ZONE": lambda _: b"\x2b\x06",
    "UUID": lambda _: b"\x24\x10",
    "BLOB": lambda _: b"\xa5\xff\xff",
    "VARCHAR": lambda _: b"\xe7\xff\xff" + _COLLATION,
}


def _written(kind: str, value: Any) -> bytes:
    text = kind not in _TYPES or kind in {"VARCHAR", "BLOB"}
    if value is None:
        return b"\xff" * 8 if text else b"\0"
    if text:
        raw = bytes(value) if kind == "BLOB" else str(value).encode("utf-16-le")
        chunk = struct.pack("<I", len(raw)) + raw if raw else b""
        return b"\xfe" + b"\xff" * 7 + chunk + bytes(4)
    raw = _fixed(kind, value)
    return bytes([len(raw)]) + raw


def _fixed(kind: str, value: Any) -> bytes:
    if kind in {"INTEGER", "BIGINT"}:
        return int(value).to_bytes(4 if kind == "INTEGER" else 8, "little", signed=True)
    if kind == "BOOLEAN":
        return bytes([value])
    if kind in {"DOUBLE", "FLOAT"}:
        return struct.pack("<d", value)
    if kind == "DECIMAL":
        digits = int(abs(value).scaleb(-value.as_tuple().exponent))
        return bytes([value >= 0]) + digits.to_bytes(16, "little")
    if kind == "UUID":
        return bytes(value.bytes_le)
    return _moment(kind, value)


def _moment(kind: str, value: Any) -> bytes:
    if kind == "TIMESTAMP WITH TIME ZONE":
        return _moment("TIMESTAMP", value.astimezone(UTC).replace(tzinfo=None)) + struct.pack("<h", 60)
    clock = b""
    if isinstance(value, datetime | time):
        seconds = (value.hour * 60 + value.minute) * 60 + value.second
        clock = (seconds * 1_000_000 + value.microsecond).to_bytes(5, "little")
    return clock if kind == "TIME" else clock + (value.toordinal() - _FIRST_DAY).to_bytes(3, "little")
