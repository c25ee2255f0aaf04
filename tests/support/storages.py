"""Storages on real servers on loopback, as connections of a step harness."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from ipaddress import IPv4Network
from pathlib import Path

from pydantic import JsonValue

from headgate.components.storage.storage import opened_storage
from headgate.foundation.guarded_http import GuardedHttp
from headgate.foundation.settings import HttpSettings, OutgoingSettings
from headgate.sdk.connections import Connection, OpenedFolder
from headgate.sdk.testing import StepHarness
from tests.support import azure_server as azure
from tests.support import sftp_server as sftp
from tests.support import webdav_server as webdav
from tests.support.gcs_server import gcs_server
from tests.support.s3_server import s3_server

BUCKET = "files"
KINDS = ("local_folder", "s3", "gcs", "azure_blob", "sftp", "webdav")


@dataclass(frozen=True)
class Store:
    """What a connection to a server needs."""

    kind: str
    fields: Mapping[str, JsonValue]
    secrets: Mapping[str, str]
    hosts: tuple[str, ...] = ()
    folder: OpenedFolder | None = None
    disk: Path | None = None
    """Where the server has its files."""

    def inside(self, name: str) -> "Store":
        """The same server, with paths that begin in a new folder."""
        if self.disk is not None:
            (self.disk / name).mkdir()
        if self.folder is not None:
            return replace(self, folder=OpenedFolder(self.folder.path / name, self.folder.writable))
        if self.kind == "webdav":
            return replace(self, fields={**self.fields, "url": f"{self.fields['url']}/{name}"})
        return replace(self, fields={**self.fields, "folder": f"/{name}"})

    def connect(self, harness: StepHarness, *, allowed: bool = True, **changed: JsonValue) -> Connection:
        """Add the connection `store` to a harness; its proxy checks addresses like the server's."""
        networks = [IPv4Network("127.0.0.0/8")] if allowed else []
        guard = GuardedHttp(HttpSettings(allowed_internal_cidrs=networks), OutgoingSettings())
        hosts = self.hosts
        connection = replace(
            harness.connect("store", self.kind, {**self.fields, **changed}, secrets=self.secrets, hosts=hosts),
            proxy=lambda most: guard.local_proxy(hosts, most_bytes=most),
            folder=self.folder,
        )
        if not allowed:
            connection = replace(connection, resolve=guard.addresses)
        harness.ctx.connections["store"] = connection
        return connection


@contextmanager
def store_of(kind: str, folder: Path) -> Iterator[Store]:
    """A server of a kind, up, without files."""
    with ExitStack() as stack:
        if kind == "local_folder":
            yield Store(kind, {"folder": "files"}, {}, folder=OpenedFolder(folder, writable=True), disk=folder)
        elif kind == "s3":
            server = stack.enter_context(s3_server())
            server.client.create_bucket(Bucket=BUCKET)
            fields: dict[str, JsonValue] = {"url": server.address, "bucket": BUCKET, "access_key": "key"}
            yield Store(kind, fields, {"secret_key": "s3-secret"}, (server.address,))
        elif kind == "gcs":
            objects = stack.enter_context(gcs_server(BUCKET))
            yield Store(kind, {"url": objects.address, "bucket": BUCKET}, {"key": objects.key}, (objects.address,))
        elif kind == "azure_blob":
            url = stack.enter_context(azure.azure_server(BUCKET))
            fields = {"url": url, "account": azure.ACCOUNT, "container": BUCKET}
            yield Store(kind, fields, {"access_key": azure.KEY}, (url.removesuffix(f"/{azure.ACCOUNT}"),))
        elif kind == "sftp":
            ssh = stack.enter_context(sftp.sftp_server(folder))
            fields = {"host": "127.0.0.1", "port": ssh.port, "user": sftp.USER, "host_key": ssh.host_key}
            yield Store(kind, fields, {"password": sftp.PASSWORD}, (f"127.0.0.1:{ssh.port}",), disk=folder)
        else:
            dav = stack.enter_context(webdav.webdav_server(folder))
            host = dav.url.removesuffix("/dav")
            yield Store(
                kind, {"url": dav.url, "user": webdav.USER}, {"password": webdav.PASSWORD}, (host,), disk=folder
            )


async def put(store: Store, path: str, content: bytes) -> None:
    """Write a file to a server."""
    connection = store.connect(StepHarness())
    async with opened_storage(connection, seconds=20, subject="Test") as opened:
        await opened.write(path, content, replace=True)
