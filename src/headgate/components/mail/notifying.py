"""The component that notifies people through chat services."""

import base64
from collections.abc import Awaitable, Callable
from typing import Any, cast

from pydantic import JsonValue

from headgate.components.isolated import NOTIFICATION
from headgate.components.isolated.calls import Isolation, call_isolated
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from headgate.graph.template import FieldKind
from headgate.sdk import Component, ComponentError, Connection, ConnectionReference, Data, Message, Table, field, output
from headgate.sdk.calls import CallRequest
from headgate.sdk.coerce import text_of

MOST_REQUESTS = 10
"""Maximum requests for one notification: some services sign in first."""
LONGEST = 30_000


class Notify(Component):
    """Sends a notification to a service: Slack, Teams, Discord, Telegram, Matrix, ntfy, Pushover and 100 more.

    The address of the connection says which service and channel; its hosts are the only servers that are reached.
    """

    label = "Notify"
    category = "output"
    outside = True
    effect = True
    icon = "bell"
    needs_extra = "notify"
    keywords = (
        "slack", "teams", "discord", "telegram", "matrix", "ntfy", "pushover", "chat", "message", "alert", "push",
        "notification", "mattermost", "rocket.chat", "webhook", "sms",
    )  # fmt: skip

    service: ConnectionReference = field(
        label="Service", help="A connection of the kind Notification address.", connection_kinds=("notification",)
    )
    body: str | Message | Table | Data = field(
        name="text", label="Text", help="The notification in Markdown.", main=True, tool_mode=True,
        kind=FieldKind.MULTILINE,
    )  # fmt: skip
    title: str = field(default="", label="Title", help="Title above the text.", tool_mode=True, max_length=250)
    timeout_seconds: float = field(
        default=30, label="Time limit", help="Maximum wait for each request, in seconds.", ge=1, le=300, advanced=True
    )

    @output(help="sent: true. A service that refuses the notification fails the step.")
    async def data(self) -> Data:
        """Send the notification. A later attempt at the step reuses a stored answer."""
        text = self.body.text if isinstance(self.body, Message) else text_of(self.body)
        if not text.strip() or len(text) > LONGEST:
            raise ComponentError(
                f"Notify: the text has {len(text)} characters; 1 to {LONGEST} can be sent.", field="text"
            )
        connection = await self.ctx.connection(self.service)

        async def send() -> JsonValue:
            requests = await send_notification(
                self.ctx,
                connection,
                title=self.title,
                text=text,
                timeout_seconds=self.timeout_seconds,
                check=self.ctx.check_cancelled,
            )
            self.ctx.log("The notification was sent.", requests=requests)
            return {"sent": True}

        request = {"connection": connection.name, "title": self.title, "text": text}
        return (await self.ctx.once(CallRequest.of("value", "Notify", request), send)).value


async def send_notification(
    ctx: Isolation,
    connection: Connection,
    *,
    title: str,
    text: str,
    timeout_seconds: float,
    check: Callable[[], Awaitable[None]],
) -> int:
    """Make the requests of the service until it needs no more, and return how many they were.

    `check` is called before each. Raises `ComponentError` for an address without HTTP, `UpstreamFailed` when the
    service refuses the notification.
    """
    answers: list[JsonValue] = []
    for _ in range(MOST_REQUESTS + 1):
        arguments: dict[str, JsonValue] = {
            "address": connection.secret("address"),
            "title": title,
            "body": text,
            "answers": answers,
        }
        step = cast("dict[str, Any]", await call_isolated(ctx, NOTIFICATION, arguments, "Notify: the service"))
        if "request" not in step:
            if not step["sent"]:
                raise _not_sent(answers)
            return len(answers)
        await check()
        answers.append(await _answer(connection, step["request"], timeout_seconds))
    raise UpstreamFailed(f"Notify: the service needs more than {MOST_REQUESTS} requests.")


async def _answer(connection: Connection, request: dict[str, Any], timeout_seconds: float) -> JsonValue:
    """Send one request through the guarded client, to the hosts of the connection only."""
    try:
        answer = await connection.http.request(
            request["method"],
            request["url"],
            headers=request["headers"],
            body=base64.b64decode(request["body"]),
            timeout_seconds=timeout_seconds,
        )
    except HeadgateError as error:
        error.detail = f"Notify: {error.detail}"
        raise
    content = base64.b64encode(answer.content).decode()
    headers: dict[str, JsonValue] = {"content-type": answer.media_type}
    return {"status": answer.status, "headers": headers, "content": content}


def _not_sent(answers: list[JsonValue]) -> HeadgateError:
    if not answers:
        return ComponentError(
            "Notify: the service of the connection does not use HTTP, or the address is incomplete.",
            remedy="Use an address of a service over HTTP.",
            field="service",
        )
    status = cast("dict[str, Any]", answers[-1])["status"]
    return UpstreamFailed(
        f"Notify: the service refused the notification; its last answer has the status {status}.",
        remedy="Check the address of the connection.",
        upstream_status=status,
    )
