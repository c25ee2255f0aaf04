"""Resources and prompts of a server, offered as tools: a model or a step reads them like it calls a tool."""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from mcp import MCPError
from mcp_types import (
    BlobResourceContents,
    ContentBlock,
    EmbeddedResource,
    Prompt,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from pydantic import JsonValue

from headgate.features.mcptools.descriptions import Described
from headgate.features.mcptools.errors import McpToolFailed
from headgate.graph.names import clipped

if TYPE_CHECKING:
    from mcp.client import Client

MOST_LISTED = 200
"""Resources or prompts of a list."""
_URI = {"uri": {"type": "string", "description": "As list_resources shows it."}}
_NAME = {
    "name": {"type": "string", "description": "As list_prompts shows it."},
    "arguments": {"type": "object", "additionalProperties": {"type": "string"}},
}
READING: Mapping[str, Described] = {
    name: Described(
        name,
        description,
        {"type": "object", "properties": properties, "required": required, "additionalProperties": False},
        read_only=True,
    )
    for name, description, properties, required in (
        ("list_resources", "Lists the resources of the server: URI, name, description.", {}, []),
        ("read_resource", "Reads a resource of the server by its URI.", _URI, ["uri"]),
        ("list_prompts", "Lists the prompts of the server with their arguments.", {}, []),
        ("get_prompt", "Returns a prompt of the server, filled with arguments.", _NAME, ["name"]),
    )
}
"""The tools, by name. A tool of the server that has such a name takes precedence."""


async def offered(client: "Client", taken: Iterable[str]) -> list[Described]:
    """Return the tools for what the server has; those whose names are taken are omitted."""
    names: list[str] = []
    capabilities = client.server_capabilities
    if capabilities.resources is not None and await _has_any(_resources(client)):
        names += ["list_resources", "read_resource"]
    if capabilities.prompts is not None and await _has_any(_prompts(client)):
        names += ["list_prompts", "get_prompt"]
    occupied = set(taken)
    return [READING[name] for name in names if name not in occupied]


async def read(client: "Client", name: str, arguments: Mapping[str, JsonValue]) -> str:
    """Return the text of one of the tools. Raises `McpToolFailed` when the server refuses, and for its arguments."""
    try:
        return await _read(client, name, arguments)
    except MCPError as error:
        reason = clipped(error.message, 2000)
        raise McpToolFailed(f"The tool '{name}' failed. The server reports: {reason}") from error


async def _read(client: "Client", name: str, arguments: Mapping[str, JsonValue]) -> str:
    if name == "list_resources":
        return "\n".join([line async for line in _resources(client)])
    if name == "list_prompts":
        return "\n".join([line async for line in _prompts(client)])
    if name == "read_resource":
        answer = await client.read_resource(_text(arguments, "uri"), cache_mode="bypass")
        return "\n".join(map(text_of, answer.contents))
    values = arguments.get("arguments") or {}
    if not isinstance(values, dict):
        raise McpToolFailed("get_prompt: 'arguments' must be an object of texts.")
    prompt = await client.get_prompt(_text(arguments, "name"), {key: str(value) for key, value in values.items()})
    return "\n\n".join(f"{message.role}: {text_of(message.content)}" for message in prompt.messages)


def text_of(part: ContentBlock | TextResourceContents | BlobResourceContents) -> str:
    """Return the text of a part of an answer; what is no text is named."""
    if isinstance(part, TextContent | TextResourceContents):
        return part.text
    if isinstance(part, EmbeddedResource):
        return text_of(part.resource)
    if isinstance(part, ResourceLink):
        return f"[resource {part.uri}]"
    kind = part.mime_type or "binary resource" if isinstance(part, BlobResourceContents) else part.type
    return f"[{kind} omitted: only text is supported]"


async def _has_any(lines: AsyncIterator[str]) -> bool:
    """Return whether there is a line; a server that cannot list what it declares has none."""
    with suppress(MCPError):
        async for _ in lines:
            return True
    return False


async def _resources(client: "Client") -> AsyncIterator[str]:
    """Yield a line for each resource and template of the server."""
    cursor, count = None, 0
    while count < MOST_LISTED:
        page = await client.list_resources(cursor=cursor, cache_mode="bypass")
        for resource in page.resources[: MOST_LISTED - count]:
            yield _line(str(resource.uri), resource.title or resource.name, resource.description)
        count, cursor = count + max(1, len(page.resources)), page.next_cursor
        if cursor is None:
            break
    else:
        yield f"[only {MOST_LISTED} resources are listed]"
    with suppress(MCPError):  # servers need not have them
        templates = (await client.list_resource_templates(cache_mode="bypass")).resource_templates
        for template in templates[:MOST_LISTED]:
            yield _line(template.uri_template, template.title or template.name, template.description)


async def _prompts(client: "Client") -> AsyncIterator[str]:
    """Yield a line for each prompt of the server."""
    cursor, count = None, 0
    while count < MOST_LISTED:
        page = await client.list_prompts(cursor=cursor, cache_mode="bypass")
        for prompt in page.prompts[: MOST_LISTED - count]:
            yield _line(_signature(prompt), prompt.title or "", prompt.description)
        count, cursor = count + max(1, len(page.prompts)), page.next_cursor
        if cursor is None:
            return
    yield f"[only {MOST_LISTED} prompts are listed]"


def _signature(prompt: Prompt) -> str:
    names = [f"{argument.name}{'' if argument.required else '?'}" for argument in prompt.arguments or ()]
    return f"{prompt.name}({', '.join(names)})"


def _line(key: str, title: str, description: str | None) -> str:
    return " | ".join(part for part in (key, title, description or "") if part)


def _text(arguments: Mapping[str, JsonValue], name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value:
        raise McpToolFailed(f"'{name}' must be a text.")
    return value
