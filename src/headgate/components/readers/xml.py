"""Parses XML of unknown origin: no DTD, no entities, no network."""

from typing import Any, Final

from pydantic import JsonValue

from headgate.components.readers.document import Unreadable
from headgate.graph.names import clipped

MOST_BYTES: Final = 20_000_000
MOST_DEPTH: Final = 100
"""Of a document that becomes data."""
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


def data_of_xml(content: bytes, *, name: str) -> dict[str, JsonValue]:
    """Return a document as data: members of elements by local name, attributes with `@`, text as `#text`.

    An element with text only is that text, an empty one is null, and elements with the same name are a list.

    Raises `Unreadable`, also for a document that is nested too deep.
    """
    root = parse_xml(content, name=name)
    return {_local(root.tag): _data(root, name, 0)}


def _data(element: Any, name: str, depth: int) -> JsonValue:  # noqa: ANN401 - lxml has no types
    if depth > MOST_DEPTH:
        raise Unreadable(f"'{name}' is nested more than {MOST_DEPTH} levels deep.")
    members: dict[str, JsonValue] = {f"@{_local(key)}": str(value) for key, value in element.attrib.items()}
    for child in element:
        key, value = _local(child.tag), _data(child, name, depth + 1)
        earlier = members.get(key)
        if key not in members:
            members[key] = value
        elif isinstance(earlier, list):
            earlier.append(value)
        else:
            members[key] = [earlier, value]
    text = "".join([element.text or "", *(child.tail or "" for child in element)]).strip()
    if not members:
        return text or None
    return {**members, "#text": text} if text else members


def _local(tag: object) -> str:
    return str(tag).rpartition("}")[2]


def etree() -> Any:  # noqa: ANN401 - lxml has no types
    """Return lxml's module, imported when first used."""
    import lxml.etree  # type: ignore[import-untyped]  # noqa: PLC0415

    return lxml.etree


def text_content(element: Any) -> str:  # noqa: ANN401
    """Return the text of an element and its descendants, white space collapsed."""
    return " ".join("".join(element.itertext()).split())
