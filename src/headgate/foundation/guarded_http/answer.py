"""What comes back from the web."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer from the web, already capped in size."""

    status: int
    headers: Mapping[str, str]
    """Names in lower case."""
    content: bytes
    """The body, decompressed."""
    media_type: str
    url: str
    """The address after redirects."""

    @property
    def text(self) -> str:
        """The body as text, in the charset that the content type names, else UTF-8."""
        charset = "utf-8"
        for part in self.headers.get("content-type", "").split(";")[1:]:
            name, _, value = part.strip().partition("=")
            if name.lower() == "charset" and value:
                charset = value.strip('"')
        try:
            return self.content.decode(charset, errors="replace")
        except (LookupError, ValueError):  # a charset that is unknown, or no charset at all
            return self.content.decode("utf-8", errors="replace")
