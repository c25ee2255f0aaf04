"""Components that call the operations of an API which a connection describes."""

import hashlib
from collections.abc import Mapping
from typing import Any, Literal, cast

from pydantic import JsonValue, PrivateAttr, ValidationError

from headgate.components.data.json_text import parse_json
from headgate.components.isolated.calls import find_schema_problems, read_xml, select_part
from headgate.components.readers.api.description import SAFE_METHODS, Operation, operation_of
from headgate.components.readers.api.parts import is_xml
from headgate.components.web.api_request import ApiRequest, FileContents, file_values, request_of
from headgate.components.web.http_headers import checked_headers
from headgate.components.web.page_positions import Paging
from headgate.components.web.page_rules import PageRules, SeenPage
from headgate.components.web.request_fields import connection_field, key_field, timeout_field
from headgate.components.web.requests import answer_data, refused
from headgate.graph.names import clipped, listed
from headgate.graph.ports import PortType
from headgate.graph.template import FieldKind, Template
from headgate.graph.tool_names import operation_tool_name
from headgate.sdk import (
    Component,
    ComponentError,
    Connection,
    ConnectionReference,
    Data,
    File,
    HttpAnswer,
    Tool,
    field,
    output,
)
from headgate.sdk.coerce import describe
from headgate.sdk.tools import run_main_output

MOST_PAGES = 1_000
MOST_ITEMS = 100_000
_PAGING = ("paging", "parameter", "next", "first_page", "items")
_CONNECTION = (
    "Its credential is added to the requests. Its API must be described: in Settings, or with the command line."
)
_OPERATION = "Method and path of the operation, such as GET /users/{id}; or its id."


class ApiCall(Component):
    """Calls an operation of an API that a connection describes. Arguments are checked before anything is sent."""

    label = "API call"
    category = "web"
    outside = True
    icon = "braces"
    keywords = (
        "api", "openapi", "swagger", "postman", "operation", "rest", "endpoint", "integration", "connector", "sdk",
        "service", "call", "github", "stripe", "slack", "jira", "notion", "hubspot", "gitlab", "twilio",
    )  # fmt: skip

    connection: ConnectionReference = connection_field(_CONNECTION)
    operation: str = field(label="Operation", help=_OPERATION, port=False, interpolate=False, max_length=600)
    arguments: str | Data = field(
        default=None,
        label="Arguments",
        help="Arguments by name: parameters, and the body as body; null omits one. A file is a step's file, or text.",
        kind=FieldKind.JSON,
        types=(PortType.DATA, PortType.TEXT),
        main=True,
    )
    pages: int = field(
        default=1,
        label="Most pages",
        help="With more than 1, data is the list of the items of all pages.",
        ge=1,
        le=MOST_PAGES,
        port=False,
    )
    paging: dict[str, str | int] = field(
        default_factory=dict,
        label="Paging",
        help="paging (link, cursor, page or offset), parameter, next, first_page, items; empty: as described.",
        port=False,
        interpolate=False,
        advanced=True,
    )
    contract: Literal["report", "fail", "ignore"] = field(
        default="report",
        label="When the response differs",
        help="From its description: report in the log and in problems, fail the step, or ignore: not checked.",
        advanced=True,
    )
    timeout_seconds: float = timeout_field()
    idempotency_key: bool = key_field()
    _answer: HttpAnswer | None = PrivateAttr(default=None)
    _content: JsonValue = PrivateAttr(default=None)
    _problems: list[str] = PrivateAttr(default_factory=list)

    @classmethod
    def template(cls, params: Mapping[str, JsonValue] | None = None) -> Template:
        """Return a template with an effect, unless the operation is named with a method that only reads."""
        method = str((params or {}).get("operation", "")).strip().partition(" ")[0]
        return super().template(params).model_copy(update={"effect": method not in SAFE_METHODS})

    @output(help="The JSON or XML of the response, or the items of all pages; a stored file for binary content.")
    async def data(self) -> Data:
        """Return the response as data."""
        await self._call()
        return self._content

    @output(help="The status of the last response, for example 200.")
    async def status(self) -> Data:
        """Return the status code."""
        return (await self._call()).status

    @output(help="Where the response differs from its description: a list of texts.")
    async def problems(self) -> Data:
        """Return the violations of the described response."""
        await self._call()
        return list[JsonValue](self._problems)

    async def _call(self) -> HttpAnswer:
        """Call once for all requested outputs."""
        if self._answer is not None:
            return self._answer
        connection = await self.ctx.connection(self.connection)
        operation = operation_of((await connection.operation(self.operation)).contract)
        arguments = self._arguments()
        faults = await find_schema_problems(self.ctx, arguments, operation.input)
        if faults:
            raise ComponentError(
                f"ApiCall: the arguments of '{operation.key}' are not valid: {listed(faults, most=3)}.",
                remedy=f"Its arguments are: {listed(_names(operation), most=20)}.",
                field="arguments",
            )
        request = request_of(operation, arguments, await self._files(operation, arguments))
        base = connection.url(request.path) if not operation.server else operation.server.rstrip("/") + request.path
        if self.pages == 1:
            answer = await self._send(connection, request, base)
            content = await self._checked(operation, answer)
        else:
            answer, content = await self._all_pages(connection, operation, request, base)
        self._answer, self._content = answer, content
        return answer

    def _arguments(self) -> dict[str, JsonValue]:
        """Return the arguments without those that are null."""
        given = self.arguments
        if isinstance(given, str):
            given = parse_json(given, subject="ApiCall: the arguments") if given.strip() else {}
        if given is not None and not isinstance(given, dict):
            raise ComponentError(
                f"ApiCall: the arguments are {describe(given)}, not an object.",
                remedy='Write them as {"id": 1}.',
                field="arguments",
            )
        return {name: value for name, value in (given or {}).items() if value is not None}

    async def _files(self, operation: Operation, arguments: dict[str, JsonValue]) -> FileContents:
        """Return the contents of the stored files in a body. Raises `NotFound` for one that the run does not have."""
        contents: dict[str, tuple[str, bytes, str]] = {}
        for value in file_values(operation, arguments):
            file = _file_of(value)
            contents[file.id] = (file.name, await self.ctx.files.read(file), file.media_type)
        return contents

    async def _send(self, connection: Connection, request: ApiRequest, url: str) -> HttpAnswer:
        """Send one request. Raises `UpstreamFailed` for an error status, with the pause that the server asks for."""
        headers = await checked_headers(self.ctx, request.headers, component="ApiCall", url=url)
        if self.idempotency_key and request.method not in SAFE_METHODS:
            headers.setdefault("idempotency-key", self.ctx.idempotency_key())
        await self.ctx.check_cancelled()
        answer = await connection.http.request(
            request.method, url, headers=headers, body=request.body, timeout_seconds=self.timeout_seconds
        )
        if answer.status >= 400:
            raise refused("ApiCall", answer)
        return answer

    async def _checked(self, operation: Operation, answer: HttpAnswer) -> JsonValue:
        """Return the content of a response, compared with its description."""
        if is_xml(answer.media_type) and answer.content:
            return await read_xml(self.ctx, answer.content)
        content = await answer_data(self.ctx, answer, subject="ApiCall")
        if self.contract == "ignore" or operation.output is None or not answer.content:
            return content
        problems = await find_schema_problems(self.ctx, content, operation.output)
        if problems and self.contract == "fail":
            raise ComponentError(
                f"ApiCall: the response of '{operation.key}' differs from its description: {listed(problems, most=3)}.",
                remedy="Read the current description of the API, or set 'When the response differs' to report.",
                field="contract",
            )
        if problems:
            self.ctx.log("The response differs from its description.", problems=list[JsonValue](problems))
            self._problems += problems
        return content

    async def _all_pages(
        self, connection: Connection, operation: Operation, request: ApiRequest, base: str
    ) -> tuple[HttpAnswer, list[JsonValue]]:
        """Return the last response, and the items of all pages."""
        rules, path = self._rules(operation)
        items: list[JsonValue] = []
        seen: list[SeenPage] = []
        position = rules.first
        while True:
            url = rules.url(base, position)
            answer = await self._send(connection, request, url)
            content = await self._checked(operation, answer)
            page_items = await self._select(path, content, "paging") if path else content
            if not isinstance(page_items, list):
                raise ComponentError(
                    f"ApiCall: the items of page {len(seen) + 1} are {describe(page_items)}, not a list.",
                    remedy="Set items in Paging to the JMESPath of the list.",
                    field="paging",
                )
            items += page_items
            if len(items) > MOST_ITEMS:
                raise ComponentError(
                    f"ApiCall: the pages have more than {MOST_ITEMS} items.",
                    remedy="Use ForEachPage, which works on each page.",
                    field="pages",
                )
            position = await rules.following(url, content, answer, items=len(page_items), seen=seen)
            seen.append(SeenPage(url, hashlib.sha256(answer.content).hexdigest(), position))
            if position is None:
                return answer, items
            if len(seen) == self.pages:
                self.ctx.log(f"The API has more than {self.pages} pages; the others are not fetched.")
                return answer, items

    def _rules(self, operation: Operation) -> tuple[PageRules, str]:
        """Return how the pages are followed, and the JMESPath of the items."""
        given = {**(operation.paging or {}), **self.paging}
        kind = given.get("paging")
        unknown = sorted(set(given) - set(_PAGING))
        if operation.method != "GET" or kind not in {"link", "cursor", "page", "offset"} or unknown:
            reason = f"Paging has no '{clipped(unknown[0], 40)}'" if unknown else "it has no pages that are described"
            raise ComponentError(
                f"ApiCall: the pages of '{operation.key}' cannot be followed: {reason}.",
                remedy='Set Paging, for example {"paging": "page", "parameter": "page", "items": "data"}.',
                field="paging",
            )
        first = given.get("first_page", 1)
        rules = PageRules(
            "ApiCall",
            cast("Paging", kind),
            str(given.get("parameter", "")),
            str(given.get("next", "")),
            first if isinstance(first, int) else 1,
            self._select,
        )
        return rules, str(given.get("items", ""))

    async def _select(self, expression: str, content: JsonValue, location: str) -> JsonValue:
        return await select_part(self.ctx, expression, content, subject="ApiCall", location=location)


class ApiTools(Component):
    """Gives an agent or AI step operations of an API that a connection describes, and no others.

    An operation whose description has changed is refused until a user accepts it: a model reads the description.
    """

    label = "API tools"
    category = "ai"
    effect = True
    outside = True
    icon = "braces"
    keywords = (
        "api", "openapi", "swagger", "operations", "tools", "integration", "connector", "rest", "function calling",
        "agent", "plugin", "endpoint",
    )  # fmt: skip

    connection: ConnectionReference = connection_field(_CONNECTION)
    operations: list[str] = field(
        label="Operations",
        help="Operations that the agent may call: method and path, or the id of each.",
        port=False,
        interpolate=False,
    )

    @output(name="tools", label="Tools", help="The operations as tools. No request is sent until one is called.")
    async def give_tools(self) -> list[Tool]:
        """Return the tools. Raises `ComponentError` for an operation that changed, `NotFound` for a missing one."""
        connection = await self.ctx.connection(self.connection)
        return [await self._tool(connection, name.strip()) for name in self.operations if name.strip()]

    async def _tool(self, connection: Connection, name: str) -> Tool:
        described = await connection.operation(name)
        operation = operation_of(described.contract)
        if described.changed:
            raise ComponentError(
                f"ApiTools: the description of '{operation.key}' has changed, and no user has accepted it.",
                remedy=f"Read and accept it in Settings, or with `headgate connections accept {connection.name}`.",
                field="operations",
            )

        async def call(arguments: dict[str, JsonValue]) -> JsonValue:
            values: dict[str, Any] = {"connection": self.connection, "operation": operation.key, "arguments": arguments}
            return await run_main_output(ApiCall, values, self.ctx, node_id=tool_name)

        tool_name = operation_tool_name(name)
        words = operation.summary or operation.description or operation.key
        return Tool(
            name=tool_name,
            description=f"[API of '{connection.name}', in its own words] {operation.key}: {words}",
            parameters=operation.input,
            call=call,
        )


def _names(operation: Operation) -> list[str]:
    properties, required = operation.input.get("properties"), operation.input.get("required")
    needed = required if isinstance(required, list) else []
    return [f"{name}{'*' if name in needed else ''}" for name in properties] if isinstance(properties, dict) else []


def _file_of(value: dict[str, JsonValue]) -> File:
    """Return a file that a step describes. Raises `ComponentError` for another object, or a type that is no header."""
    try:
        file = File.model_validate({"name": "file", **value})
    except ValidationError as error:
        raise ComponentError(
            "ApiCall: an argument for a file is not the file of a step.",
            remedy="Give a file as steps return it, or text.",
            field="arguments",
        ) from error
    if not (file.media_type.isascii() and file.media_type.isprintable()):
        raise ComponentError("ApiCall: the media type of a file is not valid.", field="arguments")
    return file
