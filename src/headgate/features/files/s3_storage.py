"""File contents in an S3-compatible bucket: `<prefix>/<tenant>/<last two characters of the id>/<id>`."""

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
"""Content up to this size is sent in one request; the minimum part size of S3."""
IN_MEMORY_BYTES = 8 * 1024 * 1024
"""Content up to this size is verified in memory, larger content in a temporary file."""
RETRIES = 3
_ROLES = ("169.254.169.254", "169.254.170.2", "169.254.170.23")
"""Metadata addresses of AWS machines, containers and pods that provide credentials of a role."""
_FULL = ("XMinioStorageFull", "QuotaExceeded", "InsufficientStorage", "XMinioAdminBucketQuotaExceeded", " 507 ")


class S3Storage:
    """Uploads contents in parts and completes them last, so that they are stored atomically."""

    def __init__(self, settings: StorageSettings, outgoing: OutgoingSettings, *, retries: int = RETRIES) -> None:
        self._obstore, store_class = _library()
        self._bucket = settings.bucket
        relay = Relay(_servers(settings, outgoing).get)
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
        """Store a content atomically."""
        key = _key(tenant_id, file_id)
        counted = Counted(content, max_bytes)
        chunks = aiter(counted)
        first = bytearray()
        with self._storage_errors():
            while len(first) <= PART_BYTES and (chunk := await anext(chunks, None)) is not None:
                first += chunk
            if len(first) <= PART_BYTES:
                await self._obstore.put_async(self._store, key, bytes(first), use_multipart=False)
            else:
                await self._upload(key, bytes(first), chunks)
        return StoredContent(size_bytes=counted.size, sha256=counted.digest.hexdigest())

    async def _upload(self, key: str, first: bytes, rest: AsyncIterator[bytes]) -> None:
        """Upload in parts. Cancellation ends the source, which makes the library abort the upload."""
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
        """Yield the content in chunks, after fetching and verifying all of it."""
        key = _key(tenant_id, file_id)
        buffer = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115 - handed on to the reader
        digest = hashlib.sha256()
        try:
            with self._storage_errors(reading=file_id):
                response = await self._obstore.get_async(self._store, key)
                async for chunk in response.stream(min_chunk_size=PIECE_BYTES):
                    digest.update(chunk)
                    await asyncio.to_thread(buffer.write, bytes(chunk))
            if sha256 is not None:
                _require_same(file_id, digest.hexdigest(), sha256)
        except BaseException:
            buffer.close()
            raise
        return _read(buffer)

    async def contents(self) -> AsyncIterator[StoredItem]:
        """Yield every content, one page of the bucket's list at a time."""
        with self._storage_errors():
            async for page in self._obstore.list(self._store, chunk_size=500):
                for entry in page:
                    tenant_id, _, file_id = ("//" + entry["path"]).rsplit("/", 2)
                    tenant_id = tenant_id.rpartition("/")[2]
                    if is_id(tenant_id) and is_id(file_id):
                        yield StoredItem(tenant_id, file_id, entry["last_modified"])

    async def delete(self, tenant_id: str, file_id: str) -> None:
        """Delete a content; no effect when it does not exist."""
        with self._storage_errors():
            await self._obstore.delete_async(self._store, _key(tenant_id, file_id))

    @contextmanager
    def _storage_errors(self, reading: str = "") -> Iterator[None]:
        """Convert the library's errors; its messages name the request and the response, never a key."""
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
            reason = str(error).partition("\n")[0]
            if any(mark in str(error) for mark in _FULL):
                raise StorageFull(
                    f"The bucket '{self._bucket}' is full; nothing was stored.", remedy="Free some space and try again."
                ) from error
            raise self._failed(reason[:300]) from error

    def _failed(self, reason: str) -> StorageFailed:
        return StorageFailed(
            f"The bucket '{self._bucket}' reported an error: {reason}.",
            remedy="Check HEADGATE_STORAGE__BUCKET, its address, region and keys.",
        )


class _BrokenOff(Exception):
    """The upload was cancelled."""


async def _until(stop: asyncio.Future[None], first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the chunks until stopped, even while waiting for one; then raise `_BrokenOff`."""
    yield first
    while True:
        following = asyncio.ensure_future(_next(rest))
        either: set[asyncio.Future[Any]] = {following, stop}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if stop.done():
            following.cancel()
            await asyncio.wait({following})
            raise _BrokenOff
        chunk = following.result()
        if chunk is None:
            return
        yield chunk


async def _next(chunks: AsyncIterator[bytes]) -> bytes | None:
    return await anext(chunks, None)


async def _read(buffer: Any) -> AsyncIterator[bytes]:  # noqa: ANN401 - a spooled file
    with buffer:
        buffer.seek(0)
        while chunk := await asyncio.to_thread(buffer.read, PIECE_BYTES):
            yield chunk


def _require_same(file_id: str, digest: str, sha256: str) -> None:
    if digest != sha256:
        raise FileDamaged(
            f"The content of file {file_id} differs from what was stored.", remedy="Restore it from a backup."
        )


def _key(tenant_id: str, file_id: str) -> str:
    """Return the key. Ids come from the database, but only valid ids become keys."""
    if not is_id(tenant_id) or not is_id(file_id):
        raise FileDamaged("Invalid file id.")
    return f"{tenant_id}/{file_id[-2:]}/{file_id}"


def _config(settings: StorageSettings) -> dict[str, Any]:
    """Return the configured values; the others come from AWS's variables or the machine's role."""
    config: dict[str, Any] = {"region": settings.region, "virtual_hosted_style_request": not settings.path_style}
    if settings.endpoint_url:
        config["endpoint"] = settings.endpoint_url.rstrip("/")
    if settings.access_key_id and settings.secret_access_key:
        config["access_key_id"] = settings.access_key_id.get_secret_value()
        config["secret_access_key"] = settings.secret_access_key.get_secret_value()
    return config


def _client_options(relay: Relay, outgoing: OutgoingSettings) -> dict[str, Any]:
    options = {"allow_http": True, "timeout": "60s", "connect_timeout": "10s", "proxy_url": relay.url}
    if outgoing.ca_file is not None:
        options["root_certificate"] = outgoing.ca_file.read_bytes()
    return options


def _servers(settings: StorageSettings, outgoing: OutgoingSettings) -> dict[Server, AddressPolicy]:
    """Return the permitted servers of the library: the store, and AWS metadata when no keys are configured."""
    operators = AddressPolicy.of(outgoing, OPERATOR_NETWORKS)
    if settings.endpoint_url:
        stores = [settings.endpoint_url]
        host, port = server_of(settings.endpoint_url)
        bucket_host = (f"{settings.bucket}.{host}".lower(), port)
    else:
        stores = [f"https://s3.{settings.region}.amazonaws.com", "https://s3.amazonaws.com"]
        bucket_host = (f"{settings.bucket}.s3.{settings.region}.amazonaws.com".lower(), 443)
    servers = {server_of(url): operators for url in stores} | {bucket_host: operators}
    if settings.access_key_id is None:
        tokens = (f"https://sts.{settings.region}.amazonaws.com", "https://sts.amazonaws.com")
        servers |= {server_of(url): operators for url in tokens}
        servers |= {(address, 80): AddressPolicy.of(outgoing, [IPv4Network(address)]) for address in _ROLES}
    return servers


def _library() -> tuple[Any, Any]:
    """Return the obstore module and its S3 store, imported when first used. Raises `StorageNotInstalled`."""
    try:
        import obstore  # noqa: PLC0415
        import obstore.exceptions  # noqa: PLC0415
        from obstore.store import S3Store  # noqa: PLC0415
    except ImportError as error:
        raise StorageNotInstalled from error
    return obstore, S3Store
