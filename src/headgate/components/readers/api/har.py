"""Converts HAR, the recordings of browsers, into OpenAPI."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from headgate.components.readers.api.examples import Example, openapi_of_examples

_NO_API = ("image/", "font/", "text/css", "text/html", "text/javascript", "application/javascript", "video/", "audio/")


def is_recording(document: Mapping[str, Any]) -> bool:
    """Return whether a document is a HAR."""
    log = document.get("log")
    return isinstance(log, Mapping) and isinstance(log.get("entries"), list)


def openapi_of(recording: Mapping[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI document of the requests that got no page, image, style or script."""
    examples = list(_examples(recording["log"]["entries"]))
    host = urlsplit(examples[0].url).hostname if examples else ""
    return openapi_of_examples(f"Recording of {host}" if host else "Recording", examples)


def _examples(entries: list[Any]) -> Iterator[Example]:
    for entry in entries:
        request = entry.get("request") if isinstance(entry, Mapping) else None
        if not isinstance(request, Mapping) or _is_no_api(entry) or not isinstance(request.get("url"), str):
            continue
        posted = request.get("postData")
        posted = posted if isinstance(posted, Mapping) else {}
        headers = request.get("headers")
        yield Example(
            str(request.get("method") or "GET"),
            request["url"],
            headers=[
                str(header.get("name")) for header in headers if isinstance(header, Mapping) and header.get("name")
            ]
            if isinstance(headers, list)
            else [],
            body=str(posted.get("text") or ""),
            media_type=str(posted.get("mimeType") or ""),
        )


def _is_no_api(entry: Mapping[str, Any]) -> bool:
    response = entry.get("response")
    content = response.get("content") if isinstance(response, Mapping) else None
    return isinstance(content, Mapping) and str(content.get("mimeType") or "").startswith(_NO_API)
