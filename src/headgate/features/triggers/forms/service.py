"""The form of a trigger as visitors reach it: found by its address or a one-time link, and submitted."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

import orjson

from headgate.features.files import service as files
from headgate.features.files.errors import FileNotFound
from headgate.features.files.limits import StorageLimits
from headgate.features.files.storage import Storage
from headgate.features.files.upload import pieces
from headgate.features.runs.companions import Companion
from headgate.features.runs.errors import InputInvalid
from headgate.features.runs.form import check_form
from headgate.features.runs.transitions import clock
from headgate.features.runs.widget.schemas import WidgetFile, WidgetStart
from headgate.features.runs.widget.service import published_flow
from headgate.features.runs.widget.tokens import seal, unseal
from headgate.features.triggers import repository as triggers
from headgate.features.triggers.errors import (
    FormBusy,
    FormClosed,
    FormNotFound,
    LinkSpent,
    OwnerGone,
    TriggerChanged,
    UploadGone,
)
from headgate.features.triggers.firing import Firing
from headgate.features.triggers.forms import repository
from headgate.features.triggers.forms.links import hash_of, state_of
from headgate.features.triggers.occurrences import Occurrence, input_with
from headgate.features.triggers.repository import Listed
from headgate.features.triggers.schemas import FormPageOut, FormReceived
from headgate.features.triggers.settings import FormConfig, TriggerInput
from headgate.features.triggers.tables import LinkRow
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database, microseconds, now
from headgate.foundation.ids import new_id
from headgate.graph.model import Flow, FormField
from headgate.sdk.outside import mark

LONGEST_TOKEN = 64
UNSUBMITTED = timedelta(hours=24)
"""How long a file is stored whose form is not submitted."""
FormState = Literal["open", "closed", "link_needed", "link_spent"]
_USE_LINK = (
    "UPDATE trigger_links SET used_at = CAST(:at AS BIGINT), occurrence_id = CAST(:occurrence_id AS VARCHAR)"
    " WHERE id = CAST(:link_id AS VARCHAR) AND used_at IS NULL AND revoked_at IS NULL"
    " AND (expires_at IS NULL OR expires_at > CAST(:at AS BIGINT)) RETURNING id"
)
_KEEP_FILE = (
    "UPDATE files SET expires_at = NULL WHERE id = CAST(:file_id AS VARCHAR)"
    " AND tenant_id = CAST(:tenant_id AS VARCHAR) RETURNING id"
)
_COUNT = (
    "UPDATE triggers SET submissions = submissions + 1 WHERE id = CAST(:trigger_id AS VARCHAR)"
    " AND (CAST(:most AS INTEGER) IS NULL OR submissions < CAST(:most AS INTEGER))"
    " AND (CAST(:closes_at AS BIGINT) IS NULL OR CAST(:at AS BIGINT) < CAST(:closes_at AS BIGINT)) RETURNING id"
)


@dataclass(frozen=True, slots=True)
class FormPage:
    """The form of a trigger at an address."""

    listed: Listed
    config: FormConfig
    flow: Flow
    link: LinkRow | None
    """The one-time link by which it was opened; None at the form's own address."""

    @property
    def id(self) -> str:
        """The id of its trigger."""
        return self.listed.row.id

    @property
    def title(self) -> str:
        """Its heading."""
        return self.config.title or self.flow.name

    @property
    def saved(self) -> TriggerInput:
        """The saved input of its runs."""
        return TriggerInput.model_validate(self.listed.row.input)

    @property
    def fields(self) -> list[FormField]:
        """What visitors answer: the fields of the flow without a saved answer."""
        return [field for field in self.flow.form if field.id not in self.saved.form_data]

    @property
    def state(self) -> FormState:
        """Whether it takes a submission now. The transaction of a submission decides again."""
        row, at = self.listed.row, clock()
        if self.link is not None and state_of(self.link, at) != "open":
            return "link_spent"
        closes_at = None if self.config.closes_at is None else microseconds(self.config.closes_at)
        most = self.config.max_submissions
        if not row.enabled or (closes_at is not None and closes_at <= at):
            return "closed"
        if most is not None and row.submissions >= most:
            return "closed"
        return "link_needed" if self.config.access == "links" and self.link is None else "open"

    def shown(self, secret_box: SecretBox) -> FormPageOut:
        """The data that the page displays, with a token of this visit where it is open."""
        config, state = self.config, self.state
        is_open = state == "open"
        return FormPageOut(
            state=state,
            color=config.color,
            theme=config.theme,
            title=self.title,
            welcome_text=config.welcome_text if is_open else "",
            form=self.fields if is_open else [],
            visit=seal(secret_box, "visit", flow=self.id, visitor=secrets.token_urlsafe(12)) if is_open else "",
        )

    def require_open(self) -> None:
        """Raise `LinkSpent`, `FormNotFound` or `FormClosed` unless it takes a submission now."""
        state = self.state
        if state == "link_spent":
            raise LinkSpent
        if state == "link_needed":
            raise FormNotFound
        if state == "closed":
            raise FormClosed


async def find_form(database: Database, token: str) -> FormPage:
    """Return the form at an address, or of a one-time link. Raises `FormNotFound`."""
    if len(token) > LONGEST_TOKEN or not token.isascii() or not token.isprintable():
        raise FormNotFound
    async with database.reading() as session:
        listed, link = await triggers.find_by_address(session, token), None
        if listed is None and (link := await repository.find_by_hash(session, hash_of(token))) is not None:
            listed = await triggers.find_trigger(session, link.trigger_id, tenant_id=link.tenant_id)
        if listed is None or listed.row.kind != "form":
            raise FormNotFound
        published = await published_flow(session, listed.row.flow_id)
    if published is None:
        raise FormNotFound
    return FormPage(listed, FormConfig.model_validate(listed.row.config), published, link)


@dataclass(frozen=True, slots=True)
class FormIntake:
    """What a visitor's request needs."""

    firing: Firing
    secret_box: SecretBox
    storage: Storage
    limits: StorageLimits

    async def upload(self, form: FormPage, file: Any, *, visit: str, visitor: str | None, most: int) -> WidgetFile:  # noqa: ANN401 - starlette's upload
        """Store a file for a submission of this visit, as a file of the trigger's owner. Raises `FormBusy`."""
        form.require_open()
        who = unseal(self.secret_box, "visit", visit, flow=form.id)["visitor"]
        try:
            owner = await self.firing.owner_of(form.listed.row, form.listed.space_id)
        except OwnerGone:
            raise FormBusy from None
        row = await files.store_upload(
            self.firing.database,
            self.storage,
            owner,
            name=file.filename or "",
            content=pieces(file),
            media_type=file.content_type or "",
            max_bytes=most,
            limits=self.limits,
            visitor=visitor,
            expires_at=now() + UNSUBMITTED,
        )
        token = seal(self.secret_box, "upload", file=row.id, flow=form.id, visitor=who)
        return WidgetFile(token=token, name=row.name, size=row.size_bytes)

    async def submit(self, form: FormPage, body: WidgetStart, *, visit: str, visitor: str | None) -> FormReceived:
        """Start the run of a submission. The same submission of the same visit is one.

        Raises `WidgetRefused`, `InputInvalid`, `NotAdmitted`, `RateLimited`, `FormBusy`; then it starts no run.
        """
        who = unseal(self.secret_box, "visit", visit, flow=form.id)["visitor"]
        occurrence = self._occurrence(form, body, who, visitor)
        if form.state != "open" and not await self._is_known(form, occurrence):
            form.require_open()
        await self.firing.pause_failing(form.listed)
        try:
            fired = await self.firing.fire(form.listed, occurrence)
        except TriggerChanged:
            raise FormBusy from None
        if fired.status == "skipped":
            if fired.reason == InputInvalid.code:
                raise InputInvalid(fired.message)
            if fired.reason == FileNotFound.code and await self._lacks_uploads(form, occurrence):
                raise UploadGone
            raise FormBusy
        config = form.config
        again = form.link is None
        return FormReceived(text=config.after_text, redirect_url=config.redirect_url, again=again)

    async def _is_known(self, form: FormPage, occurrence: Occurrence) -> bool:
        """Whether it was accepted before: its answer was lost, and the visitor sends it again."""
        row = form.listed.row
        async with self.firing.database.reading() as session:
            stored = await triggers.find_occurrence(session, row.id, occurrence.key, tenant_id=row.tenant_id)
        return stored is not None and stored[0].status != "skipped"

    async def _lacks_uploads(self, form: FormPage, occurrence: Occurrence) -> bool:
        """Whether a file of the submission was deleted, because it came too late."""
        ids = {companion.values["file_id"] for companion in occurrence.admission if companion.refusal is UploadGone}
        async with self.firing.database.writing() as session:
            return len(await files.lock_files(session, ids, tenant_id=form.listed.row.tenant_id)) < len(ids)

    def _occurrence(self, form: FormPage, body: WidgetStart, who: str, visitor: str | None) -> Occurrence:
        sent = body.model_dump(mode="json")

        def file_of(token: str) -> str:
            return unseal(self.secret_box, "upload", token, flow=form.id, visitor=who)["file"]

        saved = form.saved
        uploads: list[str] = []

        def upload_of(token: str) -> str:
            uploads.append(file_of(token))
            return uploads[-1]

        answers = check_form(form.fields, sent["form_data"], file_of=upload_of)
        given = input_with(
            saved,
            text=body.text or saved.text,
            form_data={**saved.form_data, **answers},
            file_ids=[*saved.file_ids, *(upload_of(token) for token in body.files)],
        )
        digest = hashlib.sha256(orjson.dumps(sent, option=orjson.OPT_SORT_KEYS)).hexdigest()[:32]
        occurrence_id = new_id()
        marks = (mark("visitor"),)
        return Occurrence(
            f"form:{who}.{digest}",
            given,
            outside=marks,
            id=occurrence_id,
            is_call=True,
            admission=_admission(form, occurrence_id, uploads),
            visitor=visitor,
        )


def _admission(form: FormPage, occurrence_id: str, uploads: Sequence[str]) -> tuple[Companion, ...]:
    """Return the rows that a submission changes: its files, the count of the form, and the link by which it came."""
    at, closes_at = clock(), form.config.closes_at
    count = {
        "trigger_id": form.id,
        "most": form.config.max_submissions,
        "closes_at": None if closes_at is None else microseconds(closes_at),
        "at": at,
    }
    tenant_id = form.listed.row.tenant_id
    stored = [
        Companion(_KEEP_FILE, {"file_id": file_id, "tenant_id": tenant_id}, UploadGone)
        for file_id in sorted(set(uploads))
    ]
    counted = Companion(_COUNT, count, FormClosed)
    if form.link is None:
        return *stored, counted
    used = {"link_id": form.link.id, "occurrence_id": occurrence_id, "at": at}
    return *stored, Companion(_USE_LINK, used, LinkSpent), counted
