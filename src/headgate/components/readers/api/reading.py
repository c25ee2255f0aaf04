"""Reads a description of an API in any of its formats: OpenAPI, Swagger, Postman, HAR, command lines of curl."""

from collections.abc import Mapping

from headgate.components.readers.api import curl, har, postman, swagger
from headgate.components.readers.api.description import MOST_BYTES, ApiDescription, plain, unreadable
from headgate.components.readers.api.openapi import read_openapi
from headgate.components.readers.api.source import parsed

_FORMATS = "It is read as OpenAPI 3, Swagger 2, a Postman collection, HAR or command lines of curl."


def read_api(content: bytes) -> ApiDescription:
    """Return the description in a document. Raises `Unreadable` with the place and the reason."""
    if len(content) > MOST_BYTES:
        raise unreadable(f"it has {len(content)} bytes; the limit is {MOST_BYTES}", "Remove what you do not call.")
    head = content[:200].decode("utf-8-sig", errors="replace")
    if curl.is_curl(head):
        text = content.decode("utf-8-sig", errors="replace")
        return read_openapi(curl.openapi_of(text), format_name="curl")
    document = parsed(content)
    if not isinstance(document, Mapping):
        raise unreadable("it is no object", _FORMATS)
    if str(document.get("openapi", "")).startswith("3."):
        return read_openapi(document)
    if str(document.get("swagger", "")).startswith("2"):
        return read_openapi(swagger.openapi_of(document), format_name=f"Swagger {plain(document['swagger'], 10)}")
    if har.is_recording(document):
        return read_openapi(har.openapi_of(document), format_name="HAR")
    if postman.is_collection(document):
        return read_openapi(postman.openapi_of(document), format_name="Postman")
    version = plain(document.get("openapi") or document.get("swagger"), 20)
    raise unreadable(f"'openapi: {version}' is not supported" if version else "it has no member 'openapi'", _FORMATS)
