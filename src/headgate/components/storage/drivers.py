# ruff: noqa: ANN401, FBT001, FBT002 - signatures of fsspec, whose results have no types
"""File systems of fsspec for each kind of storage. Imported when a storage is opened.

Each reaches the server of its connection only: libraries with their own HTTP client through a local proxy, SFTP through
a socket that is connected to the checked address. None reads the configuration, keys or environment of the server.
"""

import os
import posixpath
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import asyncssh
import httpx
from fsspec.asyn import sync_wrapper
from fsspec.implementations.local import LocalFileSystem
from fsspec.spec import AbstractFileSystem
from obstore.fsspec import FsspecStore
from obstore.store import AzureStore, GCSStore, ObjectStore, S3Store
from sshfs import SSHFileSystem
from sshfs.utils import wrap_exceptions
from webdav4.client import Client
from webdav4.fsspec import WebdavFileSystem
from webdav4.urls import join_url_path

from headgate.components.storage.service_accounts import service_account_token
from headgate.foundation.guarded_http import LocalProxy
from headgate.sdk import ComponentError, Connection

PIECE_BYTES = 4_000_000
"""How much of a file is in memory while it is copied over SFTP."""


class ObjectFiles(FsspecStore):
    """Objects of a bucket; a folder is what their names have in common. Listings have the time of the last change."""

    cachable = False

    def __init__(self, store: ObjectStore) -> None:
        super().__init__("s3")
        self._store = store
        self._construct_store: Any = lambda _bucket: store

    async def _ls(self, path: str, detail: bool = True, **_: Any) -> Any:
        bucket, key = self._split_path(path)
        result: Any = await self._store.list_with_delimiter_async(key)
        folders = [{"name": f"{bucket}/{name}", "size": 0, "type": "directory"} for name in result["common_prefixes"]]
        files = [
            {
                "name": f"{bucket}/{entry['path']}",
                "size": entry["size"],
                "type": "file",
                "e_tag": entry["e_tag"],
                "last_modified": entry["last_modified"],
            }
            for entry in result["objects"]
        ]
        return [*folders, *files] if detail else [entry["name"] for entry in (*folders, *files)]


class SftpFiles(SSHFileSystem):  # type: ignore[misc]
    """Files over SSH. Copies go through this server: the library would run a command on the other one."""

    cachable = False

    @wrap_exceptions  # type: ignore[untyped-decorator]
    async def _cp_file(self, lpath: str, rpath: str, **_: Any) -> None:
        async with (
            self._pool.get() as channel,
            channel.open(lpath, "rb") as source,
            channel.open(rpath, "wb") as target,
        ):
            while piece := await source.read(PIECE_BYTES):
                await target.write(piece)
        self.invalidate_cache(rpath)

    @wrap_exceptions  # type: ignore[untyped-decorator]
    async def _replace_file(self, source: str, target: str) -> None:
        """Rename a file over another one. A server that cannot has a moment without the file, never half of it."""
        async with self._pool.get() as channel:
            try:
                await channel.posix_rename(source, target)
            except asyncssh.SFTPOpUnsupported:
                with suppress(asyncssh.SFTPNoSuchFile):
                    await channel.remove(target)
                await channel.rename(source, target)

    replace_file = sync_wrapper(_replace_file)

    def close(self) -> None:
        """End the connection."""
        self.loop.call_soon_threadsafe(self.client.abort)


class _WebdavClient(Client):  # type: ignore[misc]
    def join_url(self, path: str, add_trailing_slash: bool = False) -> httpx.URL:
        """Return the URL of a path: the library leaves `#`, `?` and `%` in names as they are."""
        joined = join_url_path(self.base_url.path, path) + ("/" if add_trailing_slash else "")
        url: httpx.URL = self.base_url.copy_with(raw_path=quote(joined).encode())
        return url


class WebdavFiles(WebdavFileSystem):  # type: ignore[misc]
    """Files over HTTP."""

    cachable = False

    def replace_file(self, source: str, target: str) -> None:
        """Rename a file over another one."""
        self.client.move(source, target, overwrite=True)

    def close(self) -> None:
        """Close the HTTP client."""
        self.client.http.close()


class LocalFiles(LocalFileSystem):  # type: ignore[misc]
    """Files below one folder of the server. A link that leads out of it does not exist."""

    cachable = False

    def __init__(self, root: Path) -> None:
        super().__init__(auto_mkdir=True)
        self._root = os.path.realpath(root)

    def ls(self, path: str, detail: bool = True, **_: Any) -> Any:
        """List a folder."""
        entries = [self.info(item.path) for item in os.scandir(self._inside(path)) if not item.is_symlink()]
        return entries if detail else [entry["name"] for entry in entries]

    def info(self, path: str, **_: Any) -> Any:
        """Describe a file or folder."""
        return super().info(self._inside(path))

    def _open(self, path: str, mode: str = "rb", block_size: int | None = None, **more: Any) -> Any:
        return super()._open(self._inside(path), mode, block_size, **more)

    def makedirs(self, path: str, exist_ok: bool = False) -> Any:
        """Create a folder with the folders above it."""
        return super().makedirs(self._inside(path), exist_ok)

    def cp_file(self, path1: str, path2: str, **more: Any) -> Any:
        """Copy a file."""
        return super().cp_file(self._inside(path1), self._inside(path2), **more)

    def replace_file(self, source: str, target: str) -> None:
        """Rename a file over another one."""
        Path(self._inside(source)).replace(self._inside(target))

    def rm_file(self, path: str) -> Any:
        """Delete a file."""
        return super().rm_file(self._inside(path))

    def _inside(self, path: str) -> str:
        real = os.path.realpath(path)
        if os.path.commonpath([real, self._root]) != self._root:
            raise FileNotFoundError(path)
        return real


def s3_files(connection: Connection, proxy: LocalProxy, seconds: float) -> tuple[AbstractFileSystem, str]:
    """Return the objects of a bucket and the root of its paths."""
    keys = {
        "access_key_id": connection.text("access_key"),
        "secret_access_key": connection.secret("secret_key"),
        "token": None,
        "expires_at": None,
    }
    store = S3Store(
        connection.text("bucket"),
        endpoint=connection.text("url").rstrip("/"),
        region=connection.text("region", "us-east-1"),
        virtual_hosted_style_request=False,
        credential_provider=lambda: keys,  # type: ignore[arg-type]
        **_object_options(proxy, seconds),
    )
    return _objects(store, connection, "bucket")


def gcs_files(connection: Connection, proxy: LocalProxy, seconds: float) -> tuple[AbstractFileSystem, str]:
    """Return the objects of a bucket of Google Cloud Storage and the root of its paths. Raises `ComponentError`."""
    token = service_account_token(connection.secret("key"), connection.name)
    store = GCSStore(
        connection.text("bucket"),
        base_url=connection.text("url").rstrip("/"),
        skip_signature=False,
        credential_provider=lambda: {"token": token, "expires_at": None},  # type: ignore[arg-type]
        **_object_options(proxy, seconds),
    )
    return _objects(store, connection, "bucket")


def azure_files(connection: Connection, proxy: LocalProxy, seconds: float) -> tuple[AbstractFileSystem, str]:
    """Return the blobs of a container of Azure and the root of its paths."""
    key = connection.secret("access_key")
    store = AzureStore(
        connection.text("container"),
        account_name=connection.text("account"),
        endpoint=connection.text("url").rstrip("/"),
        use_emulator=False,
        skip_signature=False,
        credential_provider=lambda: {"access_key": key, "expires_at": None},  # type: ignore[arg-type]
        **_object_options(proxy, seconds),
    )
    return _objects(store, connection, "container")


def _object_options(proxy: LocalProxy, seconds: float) -> Any:
    options: dict[str, Any] = {
        "allow_http": True,
        "timeout": f"{seconds:g}s",
        "connect_timeout": "10s",
        "proxy_url": proxy.url,
    }
    if proxy.ca_file is not None:
        options["root_certificate"] = proxy.ca_file.read_bytes()
    backoff = {"init_backoff": timedelta(seconds=0.2), "max_backoff": timedelta(seconds=2), "base": 2}
    retries = {"max_retries": 2, "retry_timeout": timedelta(seconds=seconds), "backoff": backoff}
    return {"client_options": options, "retry_config": retries}


def _objects(store: ObjectStore, connection: Connection, field: str) -> tuple[AbstractFileSystem, str]:
    return ObjectFiles(store), posixpath.join(connection.text(field), connection.text("folder").strip("/"))


OBJECT_FILES = {"s3": s3_files, "gcs": gcs_files, "azure_blob": azure_files}


def webdav_files(connection: Connection, proxy: LocalProxy, seconds: float) -> tuple[AbstractFileSystem, str]:
    """Return the files of a WebDAV server and the root of its paths."""
    context = ssl.create_default_context()
    if proxy.ca_file is not None:
        context.load_verify_locations(proxy.ca_file)
    client = _WebdavClient(
        connection.text("url"),
        auth=httpx.BasicAuth(connection.text("user"), connection.secret("password")),
        retry=False,
        proxy=proxy.url,
        verify=context,
        trust_env=False,
        timeout=seconds,
    )
    return WebdavFiles(connection.text("url"), client=client), ""


def sftp_files(connection: Connection, stream: socket.socket, seconds: float) -> tuple[AbstractFileSystem, str]:
    """Return the files of an SFTP server and the root of its paths. Blocking: it signs in."""
    key, password = connection.secret("private_key"), connection.secret("password")
    try:
        host_key = asyncssh.import_public_key(connection.text("host_key"))
        client_keys = [asyncssh.import_private_key(key, password or None)] if key else None
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError, ValueError) as error:
        raise ComponentError(
            f"The key of the connection '{connection.name}' cannot be read.",
            remedy="Give the host key as 'ssh-ed25519 AAAA...' and the private key in PEM or OpenSSH format; the "
            "password of an encrypted key is the password of the connection.",
        ) from error
    stream.settimeout(0)
    files = SftpFiles(
        connection.text("host"),
        sock=stream,
        username=connection.text("user"),
        password=None if key else password,
        client_keys=client_keys,
        known_hosts=([host_key], [], []),
        config=None,
        agent_path=None,
        login_timeout=seconds,
        timeout=seconds,
    )
    return files, connection.text("folder").rstrip("/") or ("/" if connection.text("folder") else "")


def local_files(connection: Connection) -> tuple[AbstractFileSystem, str]:
    """Return the files of a folder that the operator opened, and its path. Raises `ComponentError`."""
    folder = connection.folder
    if folder is None or not folder.path.is_dir():
        raise ComponentError(
            f"The folder of the connection '{connection.name}' does not exist.",
            remedy="Ask the operator to create it, or to correct HEADGATE_CONNECTIONS__FOLDERS.",
        )
    return LocalFiles(folder.path), os.path.realpath(folder.path)


def changed_at(info: Mapping[str, Any]) -> datetime | None:
    """Return the time of the last change of a file, as its file system names it."""
    value = next((info[name] for name in ("last_modified", "mtime", "modified") if info.get(name) is not None), None)
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    return None
