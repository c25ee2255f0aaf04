"""Contents in a bucket of an S3-compatible store: `<prefix>/<tenant>/<last two characters of the id>/<id>`."""

import asyncio
import hashlib
import tempfile
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from ipaddress import IPv4Network
from typing import Any

from headgate.features.files.errors import FileDamaged, StorageFailed, StorageFull, StorageNotInstalled
from headgate.features.files.storage import Counted, StoredContent, StoredItem
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http import AddressPolicy
from headgate.foundation.guarded_http.outgoing import OPERATOR_NETWORKS
from headgate.foundation.guarded_http.relay import Relay, Server, server_of
from headgate.foundation.ids import is_id
from headgate.foundation.settings import OutgoingSettings, StorageSettings

PIECE_BYTES = 1024 * 1024
PART_BYTES = 5 * 1024 * 1024
"""What fits in one is sent in one request; S3 takes no smaller part of a larger upload."""
IN_MEMORY_BYTES = 8 * 1024 * 1024
"""A content up to this size is checked in memory before it is handed on, a larger one in a temporary file."""
RETRIES = 3
_ROLES = ("169.254.169.254", "169.254.170.2", "169.254.170.23")
"""Where a machine, a container or a pod of AWS asks for the keys of its role."""
_FULL = ("XMinioStorageFull", "QuotaExceeded", "InsufficientStorage", "XMinioAdminBucketQuotaExceeded", " 507 ")


class S3Storage:
    """Sends a content in parts and completes it last, so that it is there whole or not at all."""

    def __init__(self, settings: StorageSettings, outgoing: OutgoingSettings, *, retries: int = RETRIES) -> None:
        self._obstore, store_class = _library()
        self._bucket = settings.bucket
        relay = Relay(_servers(settings, outgoing))
        self._store = store_class(
            settings.bucket,
            prefix=settings.prefix or None,
            config=_config(settings),
            client_options=_client_options(relay, outgoing),
            retry_config={
                "max_retries": retries,
                "retry_timeout": timedelta(seconds=60),
            },
        )

    async def put(
        self, tenant_id: str, file_id: str, content: AsyncIterable[bytes], *, max_bytes: int
    ) -> StoredContent:
        """Store a content whole, or leave nothing behind."""
        key = _key(tenant_id, file_id)
        counted = Counted(content, max_bytes)
        pieces = aiter(counted)
        first = bytearray()
        with self._storage_errors():
            while len(first) <= PART_BYTES and (piece := await anext(pieces, None)) is not None:
                first += piece
            if len(first) <= PART_BYTES:
                await self._obstore.put_async(self._store, key, bytes(first), use_multipart=False)
            else:
                await self._upload(key, bytes(first), pieces)
        return StoredContent(size_bytes=counted.size, sha256=counted.digest.hexdigest())

    async def _upload(self, key: str, first: bytes, rest: AsyncIterator[bytes]) -> None:
        """In parts. When this is cancelled the source breaks off, which makes the library take the parts back."""
        stop = asyncio.get_running_loop().create_future()
        source = _until(stop, first, rest)
        upload = asyncio.ensure_future(
            self._obstore.put_async(self._store, key, source, chunk_size=PART_BYTES, use_multipart=True)
        )
        try:
            await asyncio.shield(upload)
        except asyncio.CancelledError:
            stop.set_result(None)
            with suppress(Exception):
                await upload
            raise

    async def get(
        self,
        tenant_id: str,
        file_id: str,
        *,
        sha256: str | None,
        data_key_id: str | None = None,  # noqa: ARG002
    ) -> AsyncIterator[bytes]:
        """The content in pieces, after it was fetched whole and found to be what was stored."""
        key = _key(tenant_id, file_id)
        kept = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115 - handed on to the reader
        digest = hashlib.sha256()
        try:
            with self._storage_errors(reading=file_id):
                found = await self._obstore.get_async(self._store, key)
                async for piece in found.stream(min_chunk_size=PIECE_BYTES):
                    digest.update(piece)
                    await asyncio.to_thread(kept.write, bytes(piece))
            if sha256 is not None:
                _require_same(file_id, digest.hexdigest(), sha256)
        except BaseException:
            kept.close()
            raise
        return _read(kept)

    async def contents(self) -> AsyncIterator[StoredItem]:
        """Every content, a page of the bucket's list at a time."""
        with self._storage_errors():
            async for page in self._obstore.list(self._store, chunk_size=500):
                for found in page:
                    tenant_id, _, file_id = ("//" + found["path"]).rsplit("/", 2)
                    tenant_id = tenant_id.rpartition("/")[2]
                    if is_id(tenant_id) and is_id(file_id):
                        yield StoredItem(tenant_id, file_id, found["last_modified"])

    async def delete(self, tenant_id: str, file_id: str) -> None:
        """Remove a content; nothing happens when there is none."""
        with self._storage_errors():
            await self._obstore.delete_async(self._store, _key(tenant_id, file_id))

    @contextmanager
    def _storage_errors(self, reading: str = "") -> Iterator[None]:
        """The library's errors as ours; its messages name the request and the answer, never a key."""
        try:
            yield
        except HeadgateError:
            raise
        except FileNotFoundError as error:
            if reading and "NoSuchBucket" not in str(error):
                raise FileDamaged(
                    f"The content of file {reading} is missing.", remedy="Restore it from a backup."
                ) from error
            raise self._failed("it does not exist") from error
        except (self._obstore.exceptions.BaseError, OSError) as error:
            said = str(error).partition("\n")[0]
            if any(mark in str(error) for mark in _FULL):
                raise StorageFull(
                    f"The bucket '{self._bucket}' is full; nothing was kept.", remedy="Free some space and try again."
                ) from error
            raise self._failed(said[:300]) from error

    def _failed(self, why: str) -> StorageFailed:
        return StorageFailed(
            f"The bucket '{self._bucket}' refused: {why}.",
            remedy="Check HEADGATE_STORAGE__BUCKET, its address, region and keys.",
        )


class _BrokenOff(Exception):
    """The upload was cancelled."""


async def _until(stop: asyncio.Future[None], first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The pieces, until told to stop, also while one is awaited. Raises `_BrokenOff` then."""
    yield first
    while True:
        following = asyncio.ensure_future(_next(rest))
        either: set[asyncio.Future[Any]] = {following, stop}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if stop.done():
            following.cancel()
            await asyncio.wait({following})
            raise _BrokenOff
        piece = following.result()
        if piece is None:
            return
        yield piece


async def _next(pieces: AsyncIterator[bytes]) -> bytes | None:
    return await anext(pieces, None)


async def _read(kept: Any) -> AsyncIterator[bytes]:  # noqa: ANN401 - a spooled file
    with kept:
        kept.seek(0)
        while piece := await asyncio.to_thread(kept.read, PIECE_BYTES):
            yield piece


def _require_same(file_id: str, found: str, sha256: str) -> None:
    if found != sha256:
        raise FileDamaged(f"The content of file {file_id} is not what was stored.", remedy="Restore it from a backup.")


def _key(tenant_id: str, file_id: str) -> str:
    """Ids come from the database, yet nothing but an id ever becomes a key."""
    if not is_id(tenant_id) or not is_id(file_id):
        raise FileDamaged("The file's id is not one that Headgate gives.")
    return f"{tenant_id}/{file_id[-2:]}/{file_id}"


def _config(settings: StorageSettings) -> dict[str, Any]:
    """What is set; the rest comes from AWS's own variables or the machine's role."""
    found: dict[str, Any] = {"region": settings.region, "virtual_hosted_style_request": not settings.path_style}
    if settings.endpoint_url:
        found["endpoint"] = settings.endpoint_url.rstrip("/")
    if settings.access_key_id and settings.secret_access_key:
        found["access_key_id"] = settings.access_key_id.get_secret_value()
        found["secret_access_key"] = settings.secret_access_key.get_secret_value()
    return found


def _client_options(relay: Relay, outgoing: OutgoingSettings) -> dict[str, Any]:
    found = {"allow_http": True, "timeout": "60s", "connect_timeout": "10s", "proxy_url": relay.url}
    if outgoing.ca_file is not None:
        found["root_certificate"] = outgoing.ca_file.read_bytes()
    return found


def _servers(settings: StorageSettings, outgoing: OutgoingSettings) -> dict[Server, AddressPolicy]:
    """What the library may connect to: the store, and without keys of ours where AWS gives those of a role."""
    operators = AddressPolicy.of(outgoing, OPERATOR_NETWORKS)
    if settings.endpoint_url:
        stores = [settings.endpoint_url]
        host, port = server_of(settings.endpoint_url)
        named = (f"{settings.bucket}.{host}".lower(), port)
    else:
        stores = [f"https://s3.{settings.region}.amazonaws.com", "https://s3.amazonaws.com"]
        named = (f"{settings.bucket}.s3.{settings.region}.amazonaws.com".lower(), 443)
    found = {server_of(url): operators for url in stores} | {named: operators}
    if settings.access_key_id is None:
        tokens = (f"https://sts.{settings.region}.amazonaws.com", "https://sts.amazonaws.com")
        found |= {server_of(url): operators for url in tokens}
        found |= {(address, 80): AddressPolicy.of(outgoing, [IPv4Network(address)]) for address in _ROLES}
    return found


def _library() -> tuple[Any, Any]:
    """The obstore module and its S3 store, imported when first used. Raises `StorageNotInstalled`."""
    try:
        import obstore  # noqa: PLC0415
        import obstore.exceptions  # noqa: PLC0415
        from obstore.store import S3Store  # noqa: PLC0415
    except ImportError as error:
        raise StorageNotInstalled from error
    return obstore, S3Store
