"""Nobody gets a passage that they may not read, whatever they ask."""

from collections.abc import AsyncIterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, text

from headgate.features.access.errors import PermissionMissing
from headgate.features.access.permissions import Permission, Role
from headgate.features.access.principal import DEFAULT_TENANT_ID, LOCAL, Principal
from headgate.features.accounts.directory.tables import DirectoryGroup, DirectoryGroupMember, DirectoryUser
from headgate.features.accounts.tables import User
from headgate.features.files import service as files
from headgate.features.files.errors import FileNotFound
from headgate.features.knowledge import service
from headgate.features.knowledge.documents import page_pictures
from headgate.features.knowledge.documents import service as documents
from headgate.features.knowledge.documents.schemas import DocumentChange, DocumentIn, Readers
from headgate.features.knowledge.errors import (
    BaseNotFound,
    DocumentNotFound,
    ReadersUnknown,
    RightsDiffer,
    VersionNotFound,
)
from headgate.features.knowledge.index.lexical import Scope
from headgate.features.knowledge.rights import Reader
from headgate.features.knowledge.search import matching
from headgate.features.knowledge.search.queries import Question
from headgate.features.knowledge.search.schemas import Mode, SearchIn
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from tests.support.embedding_server import vector_of
from tests.support.knowledge import Shelf, member, open_shelf
from tests.support.knowledge_attacks import leaks, open_scene
from tests.support.people import add_space_row
from tests.support.properties import sized

pytestmark = pytest.mark.both_databases

QUERIES = sized(150, 2_000)
MEANT = sized(50, 400)
"""Of each way of searching that uses embeddings."""
"""Adversarial queries of each database; `benchmarks.knowledge_leaks` asks 10,000."""


@pytest.fixture
async def shelf(database: Database, tmp_path: Path) -> AsyncIterator[Shelf]:
    opened = open_shelf(database, tmp_path)
    async with opened.jobs.running():
        await opened.make_base(passage_tokens=60, overlap_tokens=0)
        yield opened


async def add_user(database: Database) -> str:
    user_id = new_id()
    async with database.writing() as session:
        session.add(User(id=user_id, tenant_id=DEFAULT_TENANT_ID, name="Someone", email=f"{user_id}@example.org"))
    return user_id


async def add_group(database: Database, user_id: str) -> str:
    group_id = new_id()
    async with database.writing() as session:
        session.add(DirectoryGroup(id=group_id, tenant_id=DEFAULT_TENANT_ID, name=group_id, name_key=group_id))
        named = {"user_name": user_id, "user_name_key": user_id}
        session.add(DirectoryUser(user_id=user_id, tenant_id=DEFAULT_TENANT_ID, **named))
        await session.flush()
        session.add(DirectoryGroupMember(group_id=group_id, user_id=user_id, tenant_id=DEFAULT_TENANT_ID))
    return group_id


async def names(shelf: Shelf, principal: Principal, query: str = "secret", clearance: int | None = None) -> set[str]:
    async with shelf.database.reading() as session:
        search_in = SearchIn(query=query, limit=50, max_tokens=100_000)
        answer = await matching.search_as(session, principal, shelf.base_id, search_in, clearance=clearance)
    return {hit.document for hit in answer.hits}


class TestReaders:
    async def test_are_roles_users_groups_and_the_owner(self, shelf: Shelf) -> None:
        listed, grouped, owner = [await add_user(shelf.database) for _ in range(3)]
        group = await add_group(shelf.database, grouped)
        await shelf.add("everyone", "the secret of everyone")
        await shelf.add("publishers", "the secret of publishers", readers=Readers(role="publisher"))
        await shelf.add("listed", "the secret of one", readers=Readers(role=None, users=[listed]))
        await shelf.add("group", "the secret of a group", readers=Readers(role=None, groups=[group]))
        own = member(owner, Role.EDITOR)
        await shelf.add("own", "the secret of the owner", own, readers=Readers(role=None))
        await shelf.indexer.settle()
        assert await names(shelf, member(new_id(), Role.VIEWER)) == {"everyone"}
        assert await names(shelf, member(new_id(), Role.OWNER)) == {"everyone", "publishers"}
        assert await names(shelf, member(listed, Role.VIEWER)) == {"everyone", "listed"}
        assert await names(shelf, member(grouped, Role.VIEWER)) == {"everyone", "group"}
        assert await names(shelf, own) == {"everyone", "own"}

    async def test_are_changed_for_the_next_search(self, shelf: Shelf) -> None:
        viewer = member(new_id(), Role.VIEWER)
        document = await shelf.add("note", "the secret note")
        await shelf.indexer.settle()
        assert await names(shelf, viewer) == {"note"}
        async with shelf.database.writing() as session:
            change = DocumentChange(readers=Readers(role="owner"))
            await documents.change_document(session, LOCAL, shelf.base_id, document, change)
        assert await names(shelf, viewer) == set()

    async def test_must_exist(self, shelf: Shelf) -> None:
        for readers in (Readers(users=[new_id()]), Readers(groups=[new_id()])):
            with pytest.raises(ReadersUnknown):
                await shelf.add("note", "text", readers=readers)

    async def test_do_not_include_users_outside_of_the_space(self, shelf: Shelf) -> None:
        await shelf.add("everyone", "the secret of everyone")
        await shelf.indexer.settle()
        with pytest.raises(BaseNotFound):
            await names(shelf, member(new_id(), Role.OWNER, new_id()))
        with pytest.raises(BaseNotFound):
            await names(shelf, replace(LOCAL, tenant_id=new_id()))

    async def test_of_a_run_without_a_user_are_visitors(self, shelf: Shelf) -> None:
        await shelf.add("members", "the secret of members")
        await shelf.add("public", "the secret of all", readers=Readers(role="visitor"))
        await shelf.indexer.settle()
        async with shelf.database.reading() as session:
            scope = Scope(DEFAULT_TENANT_ID, shelf.base_id, Reader())
            answer = await matching.search(session, scope, SearchIn(query="secret"))
        assert {hit.document for hit in answer.hits} == {"public"}

    async def test_read_at_most_their_classification(self, shelf: Shelf) -> None:
        for level in range(4):
            await shelf.add(f"level{level}", f"the secret of level {level}", level=level)
        await shelf.indexer.settle()
        assert await names(shelf, LOCAL, clearance=1) == {"level0", "level1"}
        assert await names(shelf, LOCAL, clearance=0) == {"level0"}

    async def test_owners_of_the_space_list_a_document_that_they_may_not_read(self, shelf: Shelf) -> None:
        author = member(await add_user(shelf.database), Role.EDITOR)
        document = await shelf.add("private", "the secret", author, readers=Readers(role=None))
        await shelf.indexer.settle()
        async with shelf.database.reading() as session:
            listed = await documents.list_documents(session, LOCAL, shelf.base_id)
            assert [one.name for one in listed] == ["private"]
            with pytest.raises(DocumentNotFound):
                await documents.list_passages(session, LOCAL, shelf.base_id, document, limit=10)
            viewer = member(new_id(), Role.EDITOR)
            assert await documents.list_documents(session, viewer, shelf.base_id) == []
            with pytest.raises(DocumentNotFound):
                await documents.get_document(session, viewer, shelf.base_id, document)

    async def test_a_hidden_name_cannot_be_replaced(self, shelf: Shelf) -> None:
        first, second = [member(await add_user(shelf.database), Role.EDITOR) for _ in range(2)]
        await shelf.add("private", "the secret", first, readers=Readers(role=None))
        with pytest.raises(DocumentNotFound):
            await shelf.add("private", "changed", second)


class TestFile:
    async def test_is_opened_by_the_readers_of_its_document(self, shelf: Shelf) -> None:
        author, reader = member(await add_user(shelf.database), Role.EDITOR), member(new_id(), Role.PUBLISHER)
        readers = Readers(role="publisher")
        document = await shelf.add("plan", "first edition", author, readers=readers)
        await shelf.add("plan", "second edition", author)
        assert await content(shelf, reader, document) == b"second edition"
        assert await content(shelf, reader, document, version=1) == b"first edition"
        with pytest.raises(VersionNotFound):
            await content(shelf, reader, document, version=3)
        with pytest.raises(DocumentNotFound):
            await content(shelf, member(new_id(), Role.EDITOR), document)
        with pytest.raises(BaseNotFound):
            await content(shelf, member(new_id(), Role.OWNER, new_id()), document)

    async def test_of_a_space_is_not_added_with_a_key_that_may_not_view_files(self, shelf: Shelf) -> None:
        editor = member(await add_user(shelf.database), Role.EDITOR)
        mine, shared = [
            await files.store_upload(shelf.database, shelf.storage, editor, name="mine", content=b"text"),
            await files.store_artifact(
                shelf.database, shelf.storage, tenant_id=editor.tenant_id, space_id=editor.space_id, flow_id=new_id(),
                run_id=new_id(), step_id="step", name="shared", content=b"secret",
            ),
        ]  # fmt: skip
        edits, uploads = Permission.KNOWLEDGE_EDIT, Permission.FILES_UPLOAD
        for scopes, file_id, error in (
            ({edits}, mine.id, PermissionMissing),
            ({edits}, shared.id, PermissionMissing),
            ({edits, uploads}, shared.id, FileNotFound),
            ({edits, uploads}, mine.id, None),
            ({edits, Permission.FILES_VIEW}, shared.id, None),
        ):
            key = replace(editor, access=replace(editor.access, scopes=frozenset(scopes)))
            with pytest.raises(error) if error else nullcontext():
                async with shelf.database.writing() as session:
                    await documents.add_document(session, key, shelf.base_id, DocumentIn(file_id=file_id))


async def content(shelf: Shelf, principal: Principal, document: str, version: int | None = None) -> bytes:
    async with shelf.database.reading() as session:
        file = await page_pictures.file_of(session, principal, shelf.base_id, document, version=version)
    return await files.read_content(shelf.storage, file)


class TestVersions:
    """Rights are of a document, with all its versions."""

    async def test_keep_the_rights_of_the_document(self, shelf: Shelf) -> None:
        viewer = member(new_id(), Role.VIEWER)
        await shelf.add("plan", "the secret plan", readers=Readers(role="owner"), level=3)
        await shelf.add("plan", "the secret plan, second edition", level=None)
        await shelf.indexer.settle()
        assert await names(shelf, viewer) == set()
        assert await names(shelf, LOCAL, clearance=2) == set()
        assert await names(shelf, LOCAL) == {"plan"}

    async def test_with_other_rights_are_refused(self, shelf: Shelf) -> None:
        user = await add_user(shelf.database)
        readers = Readers(role="publisher", users=[user])
        await shelf.add("plan", "the secret plan", readers=readers, level=2)
        wider = Readers(role="viewer", users=[user])
        narrower = Readers(role="owner", users=[user])
        for other, level in ((wider, 2), (narrower, 2), (Readers(role="publisher"), 2), (readers, 0), (readers, 4)):
            with pytest.raises(RightsDiffer):
                await shelf.add("plan", "edited", readers=other, level=level)
        await shelf.add("plan", "edited", readers=readers, level=2)

    @pytest.mark.parametrize(("before", "after", "reads"), [("owner", "viewer", True), ("viewer", "owner", False)])
    async def test_that_are_still_indexed_follow_a_change_of_the_document(
        self, database: Database, tmp_path: Path, before: str, after: str, reads: bool
    ) -> None:
        shelf, viewer = open_shelf(database, tmp_path), member(new_id(), Role.VIEWER)
        async with shelf.jobs.running():
            await shelf.make_base()
            document = await shelf.add("plan", "the secret plan", readers=Readers.model_validate({"role": before}))
            await shelf.indexer.settle()
        await shelf.add("plan", "another edition")  # nothing indexes it
        async with database.writing() as session:
            change = DocumentChange(readers=Readers.model_validate({"role": after}))
            await documents.change_document(session, LOCAL, shelf.base_id, document, change)
        assert await names(shelf, viewer) == ({"plan"} if reads else set())
        async with database.reading() as session:
            listing = documents.list_passages(session, viewer, shelf.base_id, document, limit=10)
            if reads:
                assert [one.text for one in await listing] == ["the secret plan"]
            else:
                with pytest.raises(DocumentNotFound):
                    await listing


class TestBases:
    async def test_are_listed_with_the_documents_that_the_caller_can_view_in_few_queries(self, shelf: Shelf) -> None:
        other, first = await add_space_row(shelf.database, "Other"), shelf.base_id
        await shelf.add("open", "text")
        await shelf.add("hidden", "text", readers=Readers(role="owner"))
        second = await shelf.make_base("Other", space_id=other)
        await shelf.add("theirs", "text", readers=Readers(role="editor"))
        user = await add_user(shelf.database)
        caller = member(user, Role.VIEWER)
        caller = replace(caller, access=replace(caller.access, roles={**caller.access.roles, other: Role.EDITOR}))
        counts, queries = await listed(shelf, caller)
        assert counts == {first: 1, second: 1}
        for number in range(5):
            await shelf.make_base(f"More {number}", space_id=other)
        assert (await listed(shelf, caller))[1] == queries
        assert (await listed(shelf, LOCAL))[0][first] == 2


async def listed(shelf: Shelf, principal: Principal) -> tuple[dict[str, int], int]:
    """Documents by base with any, and the number of queries of documents and groups: the index has others."""
    statements: list[str] = []

    def note(*told: Any) -> None:
        if "directory_group" in told[2] or ("count(" in told[2] and "knowledge_documents" in told[2]):
            statements.append(told[2])

    event.listen(shelf.database.engine.sync_engine, "before_cursor_execute", note)
    try:
        async with shelf.database.reading() as session:
            bases = await service.list_bases(session, principal, limit=100, after=None)
    finally:
        event.remove(shelf.database.engine.sync_engine, "before_cursor_execute", note)
    return {base.id: base.documents for base in bases if base.documents}, len(statements)


class TestLeakage:
    @pytest.mark.parametrize("mode", ["lexical", "vector", "hybrid"])
    async def test_no_adversarial_query_gets_a_passage_without_rights(self, shelf: Shelf, mode: Mode) -> None:
        scene = await open_scene(shelf, await add_user(shelf.database), await add_user(shelf.database))
        for query in scene.queries(QUERIES if mode == "lexical" else MEANT):
            answer = await scene.search(scene.viewer, query, mode)
            assert leaks(answer) == 0, query
            assert answer.hits or mode == "lexical"
        assert await scene.everything(mode) >= {"hidden0", "open0"}, "the owner gets them"

    async def test_the_nearest_passages_are_ranked_among_those_that_may_be_read(self, shelf: Shelf) -> None:
        await shelf.make_base("Embedded", passage_tokens=60, overlap_tokens=0, embedding_model="openai/small")
        author = member(await add_user(shelf.database), Role.PUBLISHER)
        for number in range(matching.CANDIDATES + 5):
            await shelf.add(f"hidden{number}", f"the merger {number}", author, readers=Readers(role=None), level=3)
        await shelf.add("open", "a garden in spring")
        await shelf.add("secret", "the merger, for everyone with clearance", level=3)
        await shelf.indexer.settle()
        viewer = member(new_id(), Role.VIEWER)
        search_in = SearchIn(query="the merger", mode="vector")
        answer = await shelf.searcher.search_as(viewer, shelf.base_id, search_in)
        assert [(hit.document, hit.vector_rank) for hit in answer.hits] == [("secret", 1), ("open", 2)]
        question = Question("openai/small", tuple(vector_of("the merger")))
        async with shelf.database.reading() as session:
            scope = Scope(DEFAULT_TENANT_ID, shelf.base_id, Reader(viewer.user_id, "viewer", clearance=2))
            cleared = await matching.search(session, scope, search_in, question)
        assert [hit.document for hit in cleared.hits] == ["open"]


class TestIndex:
    async def test_is_the_same_as_the_rows(self, shelf: Shelf) -> None:
        document = await shelf.add("a", "one two three")
        await shelf.indexer.settle()
        async with shelf.database.writing() as session:
            await documents.delete_document(session, LOCAL, shelf.base_id, document)
        async with shelf.database.writing() as session:
            assert (await session.execute(text("SELECT count(*) FROM knowledge_passages"))).scalar_one() == 0
            if shelf.database.dialect == "sqlite":
                await session.execute(text("INSERT INTO knowledge_index (knowledge_index) VALUES ('integrity-check')"))
