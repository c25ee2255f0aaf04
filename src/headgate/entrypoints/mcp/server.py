"""The MCP server itself, over the official library's low-level server: both protocol revisions, nothing remembered.

Imported at the first request for it: the library takes most of a second to import. Each request acts as its caller and
is answered from what is stored, so that any server process may answer any of them.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)

import headgate
from headgate.entrypoints.mcp import prompts, resources
from headgate.entrypoints.mcp.text import as_text
from headgate.features.access.principal import Again, Principal
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger
from headgate.foundation.telemetry import Instruments
from headgate.graph.names import did_you_mean
from headgate.toolkit.operations import OPERATIONS, offered
from headgate.toolkit.pages import described_offset
from headgate.toolkit.stored import Operation, Studio, Visit
from headgate.toolkit.stored.operation import OperationFailed, error_answer
from headgate.toolkit.stored.published import flow_operations
from headgate.toolkit.tool import Result

Context = ServerRequestContext[Any, Any]
CallerOf = Callable[[Context], Principal]
log = get_logger(__name__)
logging.getLogger("mcp").setLevel(logging.CRITICAL)  # its lines hold what clients sent; our log reports errors
UNKNOWN = "unknown"
PUBLISHED = "published_flow"
CRASHED = "Internal error; see the server log."
LIST_SECONDS = 60
"""How long a client may cache the list of tools: roles may change."""
INSTRUCTIONS = """Headgate builds and runs AI flows. A flow is a graph of components; its text form is

name: Page summary
nodes:
  page: URL
    url: https://example.org
  brief: AIStep
    prompt: Summarise in three lines.
  out: ChatOutput
edges:
  page.text -> brief.input
  brief.output -> out.input

To build: search_components for types, describe_component for their inputs and outputs, read_grammar for
form, policy, settings, models and tests, list_models for ready models and the
default of steps without one, then create_flow_from_spec with the complete flow. To read a flow: read_flow shows every
node and edge, then values in pages. To change a flow: add_component, connect_components, configure_component,
edit_flow and others; each returns the new revision. A result with next_offset is a page: pass it as offset to get
the next.
validate_flow reports what prevents a run, dry_run previews a run, run_flow runs the flow. batch combines several calls;
'$0.flow_id' in it is replaced by the result of the first action. Errors state the next step. Secrets are
never shown: refer to variables by name."""


@dataclass(frozen=True, slots=True)
class Handlers:
    """Handles the requests of clients.

    Args:
        studio: Services of the operations.
        caller_of: Returns the sender of a request.
        metrics: Counts the calls.
        flows: Whether the published flows are the tools, for a client whose requests have no address.
    """

    studio: Studio
    caller_of: CallerOf
    metrics: Instruments
    flows: bool = False

    async def list_tools(self, context: Context, _params: PaginatedRequestParams | None) -> ListToolsResult:
        """The tools that the caller may use: the operations, or each published flow."""
        if self._serves_flows(context):
            operations = await _asked(flow_operations(self._visit(context)))
            return ListToolsResult(tools=[_tool(operation) for operation in operations.values()])
        return ListToolsResult(tools=[_tool(operation) for operation in offered(self.caller_of(context))])

    async def call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        """Call a tool; errors are returned as results."""
        operation, began = None, time.perf_counter()
        try:
            known = await self._operations(context)
            operation = known.get(params.name)
            answer = await self._call_operation(context, operation, params, known)
        except OperationFailed as error:
            self._note(operation, began, error)
            return _result(error.answer, is_error=True)
        except HeadgateError as error:
            failure = OperationFailed(error_answer(error))
            self._note(operation, began, failure)
            return _result(failure.answer, is_error=True)
        except Exception as error:
            self._note(operation, began, error)
            log.exception("mcp.tool.crashed", tool=params.name[:100])
            return _result({"error": CRASHED, "code": "internal_error"}, is_error=True)
        self._note(operation, began, None)
        return _result(answer)

    async def _call_operation(
        self,
        context: Context,
        operation: Operation | None,
        params: CallToolRequestParams,
        known: Mapping[str, Operation],
    ) -> Result:
        if operation is None:
            refusal = {"error": f"There is no tool '{params.name[:100]}'{did_you_mean(params.name, known) or '.'}"}
            raise OperationFailed({**refusal, "code": "unknown_tool", "remedy": "List the tools to see their names."})
        principal, arguments = self.caller_of(context), params.arguments or {}
        return await _with_progress(
            context, lambda report: operation.call(Visit(self.studio, principal, report, _again(context)), arguments)
        )

    async def _operations(self, context: Context) -> Mapping[str, Operation]:
        return await flow_operations(self._visit(context)) if self._serves_flows(context) else OPERATIONS

    def _serves_flows(self, context: Context) -> bool:
        """Return whether the published flows are the tools: at `/mcp/flows`, or as the program was started."""
        request: Any = context.request
        return self.flows if request is None else request.url.path.rstrip("/").endswith("/flows")

    def _note(self, operation: Operation | None, began: float, error: Exception | None) -> None:
        """Count and log a call without its arguments."""
        seconds, name = time.perf_counter() - began, _counted(operation)
        self.metrics.count("mcp_tool_invocations", name, "false" if error else "true")
        self.metrics.observe("mcp_tool_duration_ms", seconds * 1000, name)
        code = error.answer.get("code", "") if isinstance(error, OperationFailed) else ""
        log.info("mcp.tool.called", tool=name, success=error is None, ms=round(seconds * 1000, 1), code=code)

    async def list_resources(self, context: Context, params: PaginatedRequestParams | None) -> ListResourcesResult:
        """The flows that the caller sees, as text."""
        cursor = params.cursor if params is not None else None
        flows, following = await _asked(resources.list_flows(self._visit(context), cursor))
        return ListResourcesResult(resources=[Resource(**flow) for flow in flows], next_cursor=following)

    async def list_templates(
        self, _context: Context, _params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """The kinds of resources."""
        return ListResourceTemplatesResult(
            resource_templates=[ResourceTemplate(**template) for template in resources.TEMPLATES]
        )

    async def read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        """One resource."""
        media_type, text = await _asked(resources.read(self._visit(context), str(params.uri)))
        return ReadResourceResult(contents=[TextResourceContents(uri=str(params.uri), mime_type=media_type, text=text)])

    async def list_prompts(self, _context: Context, _params: PaginatedRequestParams | None) -> ListPromptsResult:
        """The prompts."""
        return ListPromptsResult.model_validate({"prompts": [prompt.as_json() for prompt in prompts.PROMPTS]})

    async def get_prompt(self, _context: Context, params: GetPromptRequestParams) -> GetPromptResult:
        """One prompt, filled in."""
        description, text = await _asked(prompts.fill(params.name, params.arguments or {}))
        message = PromptMessage(role="user", content=TextContent(text=text))
        return GetPromptResult(description=description, messages=[message])

    def _visit(self, context: Context) -> Visit:
        return Visit(self.studio, self.caller_of(context))


def _counted(operation: Operation | None) -> str:
    """Return the name that a call is counted under: flows are one, since their names are the users' own."""
    if operation is None:
        return UNKNOWN
    return operation.name if operation.name in OPERATIONS else PUBLISHED


def build_server(studio: Studio, caller_of: CallerOf, metrics: Instruments, *, flows: bool = False) -> "Server[Any]":
    """The server; it remembers nothing between requests."""
    handlers = Handlers(studio, caller_of, metrics, flows)
    hint = CacheHint(ttl_ms=LIST_SECONDS * 1000, scope="private")
    made: Server[Any] = Server(
        "headgate",
        version=headgate.__version__,
        title="Headgate",
        instructions=INSTRUCTIONS,
        cache_hints={"tools/list": hint, "prompts/list": hint, "resources/templates/list": hint},
        get_tool_input_schema=lambda _name: None,  # no argument of ours travels in a header
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )
    made.middleware.clear()  # the request is traced by the application
    return made


@asynccontextmanager
async def open_http(studio: Studio, metrics: Instruments) -> AsyncIterator[Any]:
    """The ASGI application for `/mcp`, as long as the block lasts. Requests bring `state.principal` and `.again`."""
    server = build_server(studio, _sender, metrics)
    manager = StreamableHTTPSessionManager(
        server, stateless=True, max_request_body_size=2**62
    )  # ours is bounded before
    async with manager.run():
        yield manager.handle_request


async def serve_stdio(studio: Studio, principal: Principal, metrics: Instruments, *, flows: bool = False) -> None:
    """Serve one client over standard input and output until it leaves."""
    server = build_server(studio, lambda _context: principal, metrics, flows=flows)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _sender(context: Context) -> Principal:
    request: Any = context.request
    principal: Principal = request.state.principal
    return principal


def _again(context: Context) -> Again | None:
    """Return the current rights of a request's sender; None for program credentials, which do not change."""
    again: Again | None = None if context.request is None else context.request.state.again
    return again


async def _with_progress(context: Context, work: Callable[[Callable[[str], None]], Awaitable[Result]]) -> Result:
    """Run the operation in its own task, so that it ends cleanly when the client disconnects; forward its progress."""
    if not (context.meta or {}).get("progress_token"):
        return await _own_task(work(lambda _message: None))
    queue: asyncio.Queue[str | None] = asyncio.Queue()
    teller = asyncio.create_task(_send_progress(context.session, queue))
    try:
        return await _own_task(work(queue.put_nowait))
    finally:
        queue.put_nowait(None)
        await asyncio.wait([teller], timeout=1.0)
        teller.cancel()


async def _own_task(work: Awaitable[Result]) -> Result:
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        raise


async def _send_progress(session: ServerSession, queue: "asyncio.Queue[str | None]") -> None:
    number = 0
    while (message := await queue.get()) is not None:
        number += 1
        await session.report_progress(number, message=message)


async def _asked(work: Awaitable[Any]) -> Any:  # noqa: ANN401 - what it gives
    """Return a resource or prompt; errors become those of the protocol."""
    try:
        return await work
    except HeadgateError as error:
        raise MCPError(INVALID_PARAMS, str(error), {"code": error.code}) from error
    except Exception as error:  # the library would send the client a driver's message, statements and all
        log.exception("mcp.request.crashed")
        raise MCPError(INTERNAL_ERROR, CRASHED, {"code": "internal_error"}) from error


def _tool(operation: Operation) -> Tool:
    reads, kind = operation.kind == "read", operation.kind
    return Tool(
        name=operation.name,
        title=operation.name.replace("_", " ").capitalize(),
        description=operation.description,
        input_schema=described_offset(operation.schema),
        output_schema=operation.output,
        annotations=ToolAnnotations(
            read_only_hint=reads,
            destructive_hint=not reads and kind != "add",
            idempotent_hint=kind in {"read", "set"},
            open_world_hint=kind == "run",
        ),
    )


def _result(answer: Result, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=as_text(answer))], structured_content=answer, is_error=is_error)
