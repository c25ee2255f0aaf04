"""Parses XML of unknown origin: no DTD, no entities, no network."""

from typing import Any, Final

from headgate.components.readers.document import Unreadable
from headgate.graph.names import clipped

MOST_BYTES: Final = 20_000_000
XML_NAMESPACE: Final = "http://www.w3.org/XML/1998/namespace"


def parse_xml(content: bytes, *, name: str, recover: bool = False, encoding: str | None = None) -> Any:  # noqa: ANN401 - lxml has no types
    """Return the root element of an XML document, without comments and processing instructions.

    Args:
        content: The document; its declaration names the encoding.
        name: Its name, for errors.
        encoding: Its encoding, whatever its declaration says.
        recover: Whether to accept documents with faults, as feeds have them.

    Raises:
        Unreadable: It is not well-formed, too large, or declares entities.
    """
    if len(content) > MOST_BYTES:
        raise Unreadable(f"'{name}' has {len(content)} bytes of XML; the limit is {MOST_BYTES}.")
    library = etree()
    parser = library.XMLParser(
        resolve_entities=False, load_dtd=False, no_network=True, huge_tree=False, recover=recover,
        remove_comments=True, remove_pis=True, encoding=encoding,
    )  # fmt: skip
    try:
        root = library.fromstring(content.lstrip(), parser)
    except (library.XMLSyntaxError, ValueError) as error:
        raise Unreadable(f"'{name}' is not XML: {clipped(str(error), 200)}.", remedy="Check the document.") from error
    if root is None:
        raise Unreadable(f"'{name}' is not XML: it has no element.")
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        raise Unreadable(f"'{name}' declares entities, which are not allowed.", remedy="Remove its DOCTYPE.")
    return root


def etree() -> Any:  # noqa: ANN401 - lxml has no types
    """Return lxml's module, imported when first used."""
    import lxml.etree  # type: ignore[import-untyped]  # noqa: PLC0415

    return lxml.etree


def text_content(element: Any) -> str:  # noqa: ANN401
    """Return the text of an element and its descendants, white space collapsed."""
    return " ".join("".join(element.itertext()).split())
