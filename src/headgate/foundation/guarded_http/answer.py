"""HTTP responses."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An HTTP response of limited size."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    content: bytes
    """The body, decompressed."""
    media_type: str
    url: str
    """The URL after redirects."""

    @property
    def text(self) -> str:
        """Return the body as text, in the charset of the content type, else UTF-8."""
        charset = "utf-8"
        for part in self.headers.get("content-type", "").split(";")[1:]:
            name, _, value = part.strip().partition("=")
            if name.lower() == "charset" and value:
                charset = value.strip('"')
        try:
            return self.content.decode(charset, errors="replace")
        except (LookupError, ValueError):  # an unknown or invalid charset
            return self.content.decode("utf-8", errors="replace")
