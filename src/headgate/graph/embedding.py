"""Values in queries: a `{{...}}` in SQL, JMESPath or a regular expression is data, never syntax (CWE-89, CWE-943).

| position of the reference       | SQL                             | JMESPath                  | RE2                 |
|---------------------------------|---------------------------------|---------------------------|---------------------|
| in single quotes                | its text, quotes doubled        | its text, as a JSON value | its text, escaped   |
| in double quotes (a name)       | its text, quotes doubled        | its text, JSON-escaped    | its text, escaped   |
| outside quotes                  | a literal; a list in brackets   | a JSON value              | its text, escaped   |
| in a comment                    | nothing                         |                           |                     |

A text that is a single reference is the value itself, as everywhere: the complete query comes from there.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from pydantic import JsonValue

from headgate.foundation.errors import Invalid
from headgate.graph.interpolate import REFERENCE, as_text, resolve
from headgate.graph.template import Syntax

_MARK = re.compile("\0([0-9]+)\0")
_SQL = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|/\*.*?\*/""", re.DOTALL)
_JMESPATH = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`""", re.DOTALL)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?")
_BY = re.compile(r"\b(?:order|group)\s+by\s+$", re.IGNORECASE)
Values = Sequence[JsonValue]


def embed(text: str, context: Mapping[str, JsonValue], syntax: Syntax) -> JsonValue:
    """A query with the values of its references as data; a text that is a single reference returns the value itself.

    Unresolved references stay unchanged. Raises `Invalid` for a text where SQL expects the name of a column.
    """
    write = _WRITERS.get(syntax)
    if write is None or REFERENCE.fullmatch(text) or "\0" in text:
        return resolve(text, context)
    references = [match[0] for match in REFERENCE.finditer(text)]
    values = cast("list[JsonValue]", resolve(list(references), context))
    marks = iter(
        f"\0{number}\0" if value != reference else reference
        for number, (reference, value) in enumerate(zip(references, values, strict=True))
    )
    return write(REFERENCE.sub(lambda _: next(marks), text), values)


def _sql(text: str, values: Values) -> str:
    return _pieces(_SQL, text, lambda part: _bare_sql(part, values), lambda token: _quoted_sql(token, values))


def _quoted_sql(token: str, values: Values) -> str:
    if token[0] not in "'\"":
        return _MARK.sub("", token)
    return _filled(token, values, lambda value: as_text(value).replace(token[0], token[0] * 2))


def _bare_sql(part: str, values: Values) -> str:
    def put(match: re.Match[str]) -> str:
        literal = _sql_literal(values[int(match[1])])
        if literal.startswith("'") and _BY.search(part[: match.start()]):
            raise Invalid(
                f"The value {literal} cannot name a column there.",
                remedy='Put the reference in double quotes, as in ORDER BY "{{flow_input.column}}".',
            )
        return literal

    return _MARK.sub(put, part)


def _sql_literal(value: JsonValue) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, list):
        return f"({', '.join(map(_sql_literal, value))})"
    text = as_text(value)
    is_number = not isinstance(value, dict) and _NUMBER.fullmatch(text)
    return text if is_number or isinstance(value, bool) else "'" + text.replace("'", "''") + "'"


def _jmespath(text: str, values: Values) -> str:
    def put(match: re.Match[str]) -> str:
        return _json_literal(values[int(match[1])])

    return _pieces(_JMESPATH, text, lambda piece: _MARK.sub(put, piece), lambda token: _quoted_jmespath(token, values))


def _quoted_jmespath(token: str, values: Values) -> str:
    if not _MARK.search(token):
        return token
    if token[0] == "'":
        return _json_literal(_filled(token[1:-1].replace("\\'", "'"), values, as_text))
    filled = _filled(token, values, lambda value: json.dumps(as_text(value), ensure_ascii=False)[1:-1])
    return filled if token[0] == '"' else "`" + filled[1:-1].replace("\\`", "`").replace("`", "\\`") + "`"


def _json_literal(value: JsonValue) -> str:
    return "`" + json.dumps(value, ensure_ascii=False).replace("`", "\\`") + "`"


def _re2(text: str, values: Values) -> str:
    return _filled(text, values, lambda value: re.escape(as_text(value)))


def _filled(text: str, values: Values, write: Callable[[JsonValue], str]) -> str:
    return _MARK.sub(lambda match: write(values[int(match[1])]), text)


def _pieces(tokens: re.Pattern[str], text: str, bare: Callable[[str], str], quoted: Callable[[str], str]) -> str:
    chunks, end = [], 0
    for token in tokens.finditer(text):
        chunks += [bare(text[end : token.start()]), quoted(token[0])]
        end = token.end()
    return "".join([*chunks, bare(text[end:])])


_WRITERS: Mapping[Syntax, Callable[[str, Values], str]] = {"sql": _sql, "jmespath": _jmespath, "re2": _re2}
