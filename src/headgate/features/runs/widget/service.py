"""Operations of a visitor on a flow with a widget: read its form, upload files, run it, receive the result."""

import secrets
from dataclasses import dataclass
from functools import partial

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission, Role
from headgate.features.access.principal import Access, Actor, Principal
from headgate.features.idempotency.keys import StartKey, start_key
from headgate.features.idempotency.service import StartOnce
from headgate.features.runs import service as runs
from headgate.features.runs.chat.errors import MessageNotFound
from headgate.features.runs.chat.feedback import InFlow, put_visitor_feedback
from headgate.features.runs.chat.schemas import FeedbackIn
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.form import check_form
from headgate.features.runs.schemas import RunStart
from headgate.features.runs.transitions import RunKey
from headgate.features.runs.widget import repository
from headgate.features.runs.widget.errors import WidgetNotFound, WidgetRefused
from headgate.features.runs.widget.schemas import WidgetOut, WidgetStart
from headgate.features.runs.widget.tokens import seal, unseal
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.ids import is_id
from headgate.graph.model import Flow
from headgate.graph.widget import ANYWHERE, WidgetSettings, read_widget

_SCOPES = frozenset({Permission.RUNS_START, Permission.FILES_UPLOAD})


@dataclass(frozen=True, slots=True)
class Widget:
    """A flow offered as a widget."""

    flow_id: str
    tenant_id: str
    space_id: str
    version: int
    settings: WidgetSettings
    flow: Flow

    def visitor(self, address: str | None, files: frozenset[str] = frozenset()) -> Principal:
        """An anonymous user who may run this flow, upload files for it, and open files by sealed token only."""
        access = Access(
            roles={self.space_id: Role.RUNNER},
            scopes=_SCOPES,
            spaces=frozenset({self.space_id}),
            files=files,
            visitor=True,
        )
        actor = Actor("system", "Visitor of a widget", address=address)
        return Principal(self.tenant_id, "", self.space_id, access, actor)

    def conversation(self, visitor: str) -> str | None:
        """The session of a visit; a form has none."""
        return f"widget-{visitor}" if self.settings.kind == "chat" else None

    @property
    def ancestors(self) -> str:
        """Pages that may embed it, in the syntax of a content security policy."""
        origins = self.settings.origins
        return "*" if ANYWHERE in origins else " ".join(("'self'", *origins))

    def shown(self, visit: str) -> WidgetOut:
        """The data that the frame displays."""
        return WidgetOut(
            flow_id=self.flow_id,
            kind=self.settings.kind,
            color=self.settings.color,
            theme=self.settings.theme,
            title=self.settings.title or self.flow.name,
            welcome_text=self.settings.welcome_text,
            questions=list(self.settings.questions),
            form=list(self.flow.form),
            visit=visit,
        )


async def published_flow(session: AsyncSession, flow_id: str) -> Flow | None:
    """Return the published version of a flow of any tenant; None when it is not published."""
    row = await repository.find_published(session, flow_id)
    return None if row is None else Flow.model_validate(row.definition)


async def find_widget(database: Database, flow_id: str) -> Widget:
    """Return a flow that has a widget now. Raises `WidgetNotFound`.

    It is enabled by publishing, and disabled by publishing, or at once by its draft.
    """
    if not is_id(flow_id):
        raise WidgetNotFound
    async with database.reading() as session:
        row = await repository.find_published(session, flow_id)
    if row is None:
        raise WidgetNotFound
    draft = row.draft.get("settings", {}).get("widget", {})
    flow = Flow.model_validate(row.definition)
    try:
        settings = read_widget(flow.settings.widget)
    except ValueError:
        raise WidgetNotFound from None
    if not settings.enabled or not isinstance(draft, dict) or draft.get("enabled") is not True:
        raise WidgetNotFound
    return Widget(flow_id, row.tenant_id, row.space_id, row.version, settings, flow)


def new_visit(secret_box: SecretBox, widget: Widget) -> str:
    """Return a token for a visitor who opened the frame."""
    return seal(secret_box, "visit", flow=widget.flow_id, visitor=secrets.token_urlsafe(12))


async def start(
    database: Database,
    engine: ExecutionBackend,
    secret_box: SecretBox,
    widget: Widget,
    start: WidgetStart,
    *,
    visit: str,
    address: str | None,
    key: str | None = None,
) -> str:
    """Run the published version for a visitor. Returns the run's token.

    With an idempotency key the same request of the same visit starts one run. Raises `WidgetRefused`, `KeyInvalid`,
    `KeyReused`, and `InputInvalid` for answers that do not match the form.
    """
    visitor = unseal(secret_box, "visit", visit, flow=widget.flow_id)["visitor"]
    bound = {"flow": widget.flow_id, "visitor": visitor}
    uploads: dict[str, str] = {}
    body = start.model_dump(mode="json")

    def upload_of(token: str) -> str:
        return uploads.setdefault(token, unseal(secret_box, "upload", token, **bound)["file"])

    start_of = RunStart(
        text=start.text,
        form_data=check_form(widget.flow.form, body["form_data"], file_of=upload_of),
        file_ids=[upload_of(token) for token in start.files],
        session_id=widget.conversation(visitor),
        version="published",
    )
    user = widget.visitor(address, frozenset(uploads.values()))
    mark = start_key(user, key, body, scope=f"widget/{widget.flow_id}/{visitor}/")

    async def begin(once: StartKey | None) -> str:
        return (await runs.start_run(database, engine, user, widget.flow_id, start_of, once=once)).run_id

    run_id = await StartOnce(database, mark).begin(begin, may_read=partial(runs.key_of, engine, user))
    started = await runs.key_of(engine, user, run_id)
    return seal(secret_box, "run", run=run_id, version=str(started.version), **bound)


async def rate(
    database: Database,
    secret_box: SecretBox,
    widget: Widget,
    feedback_in: FeedbackIn,
    *,
    run: str,
    visit: str,
    address: str | None,
) -> None:
    """Store what a visitor thinks of the answer of a run that their visit started, by the tokens of both.

    Raises `WidgetRefused`, also when the run was deleted meanwhile.
    """
    visitor = unseal(secret_box, "visit", visit, flow=widget.flow_id)["visitor"]
    run_id = unseal(secret_box, "run", run, flow=widget.flow_id, visitor=visitor)["run"]
    answer = InFlow(run_id, widget.flow_id, widget.space_id)
    try:
        async with database.writing() as session:
            conversation = widget.conversation(visitor)
            await put_visitor_feedback(session, widget.visitor(address), conversation, answer, feedback_in)
    except MessageNotFound:
        raise WidgetRefused from None


def run_of(secret_box: SecretBox, widget: Widget, token: str) -> RunKey:
    """Return the run of a token. Raises `WidgetRefused`."""
    content = unseal(secret_box, "run", token, flow=widget.flow_id)
    return RunKey(content["run"], widget.tenant_id, widget.flow_id, int(content["version"]))
