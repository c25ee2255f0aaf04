"""The Kafka protocol over sockets that are connected to checked addresses, with the structures of aiokafka, an extra.

Everything blocks, and everything that a broker sends is bounded: a frame, what a batch expands to, the rounds of SCRAM.
"""

import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from struct import pack, unpack, unpack_from
from typing import Any

import cramjam
from aiokafka import errors
from aiokafka.codec import _detect_xerial_stream
from aiokafka.conn import SaslPlainAuthenticator, ScramAuthenticator
from aiokafka.consumer.fetcher import READ_COMMITTED, PartitionRecords
from aiokafka.protocol.admin import ApiVersionRequest, SaslAuthenticateRequest, SaslHandShakeRequest
from aiokafka.protocol.commit import OffsetCommitRequest
from aiokafka.protocol.coordination import FindCoordinatorRequest
from aiokafka.protocol.fetch import FetchRequest
from aiokafka.protocol.metadata import MetadataRequest
from aiokafka.protocol.offset import OffsetRequest
from aiokafka.record.default_records import _DefaultRecordBatchPy
from aiokafka.record.memory_records import _MemoryRecordsPy
from aiokafka.structs import TopicPartition

from headgate.components.kafka.records import Gap, Record
from headgate.components.sockets import Bounded
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from headgate.graph.names import clipped
from headgate.sdk import ComponentError
from headgate.sdk.coerce import clean_text

EARLIEST, LATEST = -2, -1
MOST_FRAME = 16_000_000
"""Bytes of a response; a batch that is larger is skipped."""
MOST_EXPANDED = 16_000_000
"""Bytes of a batch when it is decompressed."""
_FETCHED = 250_000
"""Bytes that a fetch asks for; a batch is never cut."""
_MOST_FETCHES = 4
_PREFIX = 4_096
_HEADER = _DefaultRecordBatchPy.HEADER_STRUCT.size
_MOST_ROUNDS = 1_000_000
_CREDENTIALS = (errors.SaslAuthenticationFailed, errors.UnsupportedSaslMechanismError, errors.IllegalSaslStateError)
_RIGHTS = (errors.TopicAuthorizationFailedError, errors.GroupAuthorizationFailedError)
_NAMES = (errors.UnknownTopicOrPartitionError, errors.InvalidTopicError, errors.InvalidGroupIdError)


class BadAnswer(Exception):
    """What a broker sent is no answer."""


class Expanded(Exception):
    """A batch that expands to more than `MOST_EXPANDED`."""


class Wire:
    """A connection to a broker. Each method raises errors of aiokafka, `OSError`, `BadAnswer`."""

    def __init__(self, stream: Bounded) -> None:
        self._stream = stream
        self.ended = False
        """Whether an answer was not read to its end: then nothing more is asked."""
        self._number = 0
        self._versions: dict[int, tuple[int, int]] = {}
        answer = self._ask(ApiVersionRequest())
        _require(answer.error_code)
        self._versions = {key: (least, most) for key, least, most in answer.api_versions}

    def sign_in(self, mechanism: str, user: str, password: str) -> None:
        """Sign in by SASL."""
        _require(self._ask(SaslHandShakeRequest(mechanism)).error_code)
        known = {"loop": None, "sasl_plain_username": user, "sasl_plain_password": password}
        if mechanism == "PLAIN":
            steps = SaslPlainAuthenticator(**known).authenticator_plain()
        else:
            steps = ScramAuthenticator(**known, sasl_mechanism=mechanism).authenticator_scram()
        token, _ = next(steps)
        while True:
            answer = self._ask(SaslAuthenticateRequest(token))
            _require(answer.error_code, answer.error_message)
            rounds = re.search(rb"(?:^|,)i=(\d+)", answer.sasl_auth_bytes)
            if rounds and (len(rounds[1]) > 7 or int(rounds[1]) > _MOST_ROUNDS):
                raise BadAnswer(f"the broker asks for more than {_MOST_ROUNDS:,} rounds of SCRAM")
            try:
                token, _ = steps.send(answer.sasl_auth_bytes)
            except StopIteration:
                return

    def metadata(self, topic: str | None) -> dict[str, Any]:
        """Return the brokers, and the partitions of a topic, which is not created."""
        answer = self._ask(MetadataRequest([] if topic is None else [topic], allow_auto_topic_creation=False))
        described: dict[str, Any] = answer.to_object()
        for each in described["topics"]:
            _require(each["error_code"])
        for broker in described["brokers"]:
            _check_server(broker["host"], broker["port"])
        return described

    def ends(self, topic: str, partitions: list[int], which: int) -> dict[int, int]:
        """Return the first offset (`EARLIEST`), or the one after all messages of ended transactions (`LATEST`)."""
        asked = [(topic, [(partition, which) for partition in partitions])]
        answer = self._ask(OffsetRequest(-1, READ_COMMITTED, asked)).to_object()
        parts = [partition for each in answer["topics"] for partition in each["partitions"]]
        for partition in parts:
            _require(partition["error_code"])
        ends = {partition["partition"]: int(partition["offset"]) for partition in parts}
        if ends.keys() != set(partitions) or min(ends.values(), default=0) < 0:
            raise BadAnswer("the broker named offsets of other partitions")
        return ends

    def records(self, topic: str, partition: int, start: int, end: int, most: int) -> tuple[list[Record | Gap], int]:
        """Return the messages from `start` on of ended transactions, and the offset to read next.

        At most `most`, below `end`, and of `MOST_EXPANDED` bytes except for the last.
        """
        records: list[Record | Gap] = []
        left, position = MOST_EXPANDED, start
        for _ in range(_MOST_FETCHES):
            if self.ended or position >= end or len(records) >= most or left < 0:
                break
            before = position
            for record, after in self._fetched(topic, partition, before):
                position = after
                records += [] if record is None else [record]
                left -= len(record.value or b"") if isinstance(record, Record) else 0
                if len(records) >= most or left < 0:
                    break
            if position <= before:
                break
        return records, position

    def _fetched(self, topic: str, partition: int, start: int) -> Iterator[tuple[Record | Gap | None, int]]:
        """Each message or gap with the offset after it; last, None with the offset to read next."""
        asked = [(topic, [(partition, start, _FETCHED)])]
        answer = self._ask(FetchRequest(0, 0, _FETCHED, READ_COMMITTED, asked)).to_object()
        match answer["topics"]:
            case [{"partitions": [{"partition": number} as part]}] if number == partition:
                _require(part["error_code"])
            case _:
                raise BadAnswer("the broker sent messages of other partitions")
        content = part["message_set"] or b""
        if len(content) == _HEADER and unpack_from(">i", content, 8)[0] + 12 > _HEADER:
            batch = _DefaultRecordBatchPy(content)
            yield _gap(start, batch, f"The batch is larger than {MOST_FRAME:,} bytes."), batch.next_offset
            return
        batches = _Batches(content)
        aborted = [tuple(each.values()) for each in part["aborted_transactions"] or []]
        records = PartitionRecords(
            TopicPartition(topic, partition), batches, aborted, start, None, None,
            check_crcs=True, isolation_level=READ_COMMITTED,
        )  # fmt: skip
        try:
            for record in records:
                headers = tuple((clean_text(name), value) for name, value in record.headers)
                yield (
                    Record(record.offset, record.timestamp, record.key, record.value, headers),
                    records.next_fetch_offset,
                )
        except Expanded:
            batch = batches.last
            reason = f"The batch expands to more than {MOST_EXPANDED:,} bytes."
            yield _gap(records.next_fetch_offset, batch, reason), batch.next_offset
            return
        yield None, records.next_fetch_offset

    def coordinator(self, group: str) -> tuple[str, int]:
        """Return host and port of the broker that keeps the offsets of a consumer group."""
        answer = self._ask(FindCoordinatorRequest(group, 0))
        _require(answer.error_code)
        _check_server(answer.host, answer.port)
        return answer.host, answer.port

    def commit(self, group: str, topic: str, offsets: Mapping[int, int]) -> None:
        """Commit offsets for a consumer group, as one that is no member of it."""
        asked = [(topic, [(partition, offset, "") for partition, offset in offsets.items()])]
        answer = self._ask(OffsetCommitRequest(group, -1, "", -1, asked)).to_object()
        for each in answer["topics"]:
            for partition in each["partitions"]:
                _require(partition["error_code"])

    def _ask(self, request: Any) -> Any:  # noqa: ANN401 - the library has no types
        asked = request.prepare(self._versions)
        self._number += 1
        message = asked.build_request_header(correlation_id=self._number, client_id="headgate").encode()
        message += asked.encode()
        self._stream.sendall(pack(">i", len(message)) + message)
        (size,) = unpack(">i", self._read(4))
        self.ended = not 0 <= size <= MOST_FRAME
        content = _shortened(self._read(_PREFIX), size) if self.ended else self._read(size)
        frame = BytesIO(content)
        if asked.parse_response_header(frame).correlation_id != self._number:
            raise BadAnswer("the broker answered another request")
        return asked.RESPONSE_TYPE.decode(frame)

    def _read(self, size: int) -> bytes:
        content = bytearray()
        while len(content) < size:
            part = self._stream.recv(min(size - len(content), 1 << 20))
            if not part:
                raise BadAnswer("the broker closed the connection")
            content += part
        return bytes(content)


def _shortened(prefix: bytes, size: int) -> bytes:
    """Return a response that is too large with only the header of its first batch, which is its last field."""
    for at in range(len(prefix) - 4 - _HEADER):
        if unpack_from(">i", prefix, at)[0] == size - at - 4:
            return prefix[:at] + pack(">i", _HEADER) + prefix[at + 4 : at + 4 + _HEADER]
    raise BadAnswer(f"the broker sent a response of more than {MOST_FRAME:,} bytes")


def _gap(first: int, batch: Any, reason: str) -> Gap:  # noqa: ANN401
    if batch.next_offset <= first:
        raise BadAnswer("the broker sent a batch of before the asked offset")
    return Gap(first, batch.next_offset - 1, reason)


class _Batch(_DefaultRecordBatchPy):  # type: ignore[misc]
    """A batch that expands to at most `MOST_EXPANDED` bytes."""

    _buffer: bytearray
    _decompressed: bool
    _pos: int

    def _maybe_uncompress(self) -> None:
        if not self._decompressed and self.compression_type:
            self._buffer = expanded(self.compression_type, bytes(self._buffer[self._pos :]))
            self._pos = 0
        self._decompressed = True


class _Batches(_MemoryRecordsPy):  # type: ignore[misc]
    """The batches of a response."""

    last: Any = None

    def next_batch(self) -> Any:  # noqa: ANN401
        content = bytes(self._next_slice)
        self._cache_next()
        if len(content) < _HEADER or content[16] != 2:
            raise BadAnswer("the messages are of the format of before Kafka 0.11, which is not read")
        self.last = _Batch(content)
        return self.last


def expanded(codec: int, content: bytes) -> bytearray:
    """Return a decompressed batch. Raises `Expanded`, `CorruptRecordException`."""
    try:
        if codec == _Batch.CODEC_GZIP:
            stream = zlib.decompressobj(31)
            plain = bytearray(stream.decompress(content, MOST_EXPANDED))
            if not stream.eof:
                raise Expanded if len(plain) >= MOST_EXPANDED else zlib.error("incomplete")
            return plain
        if codec == _Batch.CODEC_SNAPPY:
            return _snappy(content)
        if codec not in {_Batch.CODEC_LZ4, _Batch.CODEC_ZSTD}:
            raise errors.UnsupportedCodecError(f"Unknown compression {codec}")
        plain = bytearray(MOST_EXPANDED)
        module = cramjam.lz4 if codec == _Batch.CODEC_LZ4 else cramjam.zstd
        del plain[module.decompress_into(content, plain) :]
    except (cramjam.DecompressionError, zlib.error, IndexError) as error:
        if "whole buffer" in str(error):
            raise Expanded from error
        raise errors.CorruptRecordException(f"A compressed batch is damaged: {error}") from error
    return plain


def _snappy(content: bytes) -> bytearray:
    """Expand blocks with their lengths, as Java clients write them, or one block."""
    blocks = [content]
    if _detect_xerial_stream(content):
        blocks, at = [], 16
        while at < len(content):
            size = int.from_bytes(content[at : at + 4], "big")
            blocks.append(content[at + 4 : at + 4 + size])
            at += 4 + size
    plain = bytearray()
    for block in blocks:
        if len(plain) + cramjam.snappy.decompress_raw_len(block) > MOST_EXPANDED:
            raise Expanded
        plain += bytes(cramjam.snappy.decompress_raw(block))
    return plain


def _check_server(host: object, port: int) -> None:
    if not (isinstance(host, str) and re.fullmatch(r"[\w.:-]{1,255}", host) and 0 < port < 65_536):
        raise BadAnswer("the broker named a server that cannot exist")


def _require(code: int, message: str | None = None) -> None:
    """Raise the error of a code."""
    if code:
        raise errors.for_code(code)(message or "")


@contextmanager
def explained(place: str, subject: str) -> Iterator[None]:
    """Raise the errors of a broker as ours."""
    try:
        yield
    except HeadgateError:
        raise
    except _NAMES as error:
        raise ComponentError(
            f"{subject}: {place} does not know the topic or group: {_reason(error)}.", remedy="Check its name."
        ) from error
    except (*_CREDENTIALS, *_RIGHTS) as error:
        raise UpstreamFailed(
            f"{subject}: {place} refused the user, the password or the rights: {_reason(error)}.",
            remedy="Check the connection, its mechanism, and the rights of the user on the topic and group.",
        ) from error
    except errors.UnknownMemberIdError as error:
        raise UpstreamFailed(
            f"{subject}: the consumer group is used by consumers.", remedy="Choose a group that only this reader has."
        ) from error
    except Exception as error:  # an answer that is none, and every failure of the connection
        raise UpstreamFailed(f"{subject}: {place} failed: {_reason(error)}.", remedy="Check the connection.") from error


def _reason(error: Exception) -> str:
    text = " ".join(clean_text(str(error)).split()).rstrip(".:")
    return clipped(text or type(error).__name__, 200)
