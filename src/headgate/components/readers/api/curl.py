"""Converts pasted command lines of curl into OpenAPI."""

import shlex
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from headgate.components.readers.api.description import unreadable
from headgate.components.readers.api.examples import Example, openapi_of_examples

_BODY = frozenset({"-d", "--data", "--data-raw", "--data-binary", "--data-ascii", "--data-urlencode", "--json"})
_FORM = frozenset({"-F", "--form", "--form-string", "-T", "--upload-file"})
_WITH_VALUE = frozenset(
    {"-u", "--user", "-o", "--output", "-A", "--user-agent", "-b", "--cookie", "-e", "--referer", "-m", "--max-time"}
    | {"-x", "--proxy", "--connect-timeout", "--retry", "-c", "--cookie-jar", "-w", "--write-out", "--cacert"}
    | {"-E", "--cert", "--key", "--oauth2-bearer", "--resolve", "-r", "--range", "--limit-rate", "--ciphers"}
)
_TAKES_VALUE = _WITH_VALUE | _BODY | _FORM | {"-X", "--request", "-H", "--header", "--url"}
_FLAGS = frozenset({"-G", "--get", "-I", "--head"})
MOST_COMMANDS = 500


def is_curl(text: str) -> bool:
    """Return whether a text is command lines of curl."""
    return text.lstrip().removeprefix("$ ").startswith("curl ")


def openapi_of(text: str) -> dict[str, Any]:
    """Return the OpenAPI document of command lines. Raises `Unreadable` for quotes that are not closed."""
    try:
        words = shlex.split(text.replace("\\\r\n", " ").replace("\\\n", " ").replace("\n", " ; "), posix=True)
    except ValueError as error:
        raise unreadable(f"the command line: {error}", "Paste complete command lines.") from error
    commands: list[list[str]] = []
    for word in words:
        if word == "curl":
            commands.append([])
        elif word != ";" and commands:
            commands[-1].append(word)
    examples = [example for example in (_example(command) for command in commands[:MOST_COMMANDS]) if example.url]
    host = urlsplit(examples[0].url).hostname if examples else ""
    return openapi_of_examples(f"Requests to {host}" if host else "Requests", examples)


@dataclass
class _Command:
    """One command line, read word by word."""

    method: str = ""
    url: str = ""
    media_type: str = ""
    headers: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    as_query: bool = False

    def read(self, words: list[str]) -> None:
        """Read the words of a command line."""
        rest = iter(words)
        for word in rest:
            name, joined, value = word.partition("=") if word.startswith("--") else (word, "", "")
            if name in _FLAGS:
                self._flag(name)
            elif word.startswith("-X") and len(word) > 2:
                self.method = word[2:]
            elif name in _TAKES_VALUE:
                self._option(name, value if joined else next(rest, ""))
            elif not word.startswith("-"):
                self.url = self.url or word

    def _flag(self, name: str) -> None:
        if name in {"-I", "--head"}:
            self.method = self.method or "HEAD"
        else:
            self.as_query = True

    def _option(self, name: str, value: str) -> None:
        if name in {"-X", "--request"}:
            self.method = value
        elif name in {"-H", "--header"}:
            header, _, content = value.partition(":")
            self.headers.append(header.strip())
            self.media_type = content.strip() if header.strip().lower() == "content-type" else self.media_type
        elif name in _BODY:
            self.body.append(value)
            self.media_type = self.media_type or ("application/json" if name == "--json" else "")
        elif name in _FORM:
            self.body, self.media_type = ["file"], "multipart/form-data"
        elif name == "--url":
            self.url = value


def _example(words: list[str]) -> Example:
    command = _Command()
    command.read(words)
    parts = [part.partition("=")[0] for text in command.body for part in text.split("&")]
    content = "" if command.as_query else "&".join(command.body)
    return Example(
        command.method or ("POST" if content else "GET"),
        command.url,
        headers=command.headers,
        query=parts if command.as_query else [],
        body=content,
        media_type=command.media_type,
    )
