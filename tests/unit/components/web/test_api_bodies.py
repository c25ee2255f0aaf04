"""Bodies that are not JSON: forms with files, files, XML; cookies; and answers in XML."""

import json
from dataclasses import asdict
from typing import Any

import pytest

from headgate.components.readers.api.description import contract_of, operation_of
from headgate.components.readers.api.reading import read_api
from headgate.components.readers.document import Unreadable
from headgate.components.readers.xml import data_of_xml
from headgate.components.web.api_call import ApiCall
from headgate.sdk import ComponentError
from headgate.sdk.connections import DescribedOperation
from headgate.sdk.testing import StepHarness
from tests.support.api_documents import as_json

BASE = "https://api.example.org"


def described(content: dict[str, Any], **members: Any) -> Any:
    """The operation of a document with this body."""
    operation = {"requestBody": {"required": True, "content": content}, **members}
    document = {
        "openapi": "3.0.3",
        "paths": {"/items": {"post": operation}},
        "components": {"schemas": {"Upload": UPLOAD}},
    }
    (read,) = read_api(as_json(document)).operations
    return read


def harness(operation: Any, answer: Any = None) -> StepHarness:
    """A harness with the connection `shop`."""
    made = StepHarness()

    async def find(_name: str) -> DescribedOperation:
        return DescribedOperation(json.loads(json.dumps(contract_of(operation))))

    made.connect("shop", "bearer", {"url": BASE}, operation=find)
    media_type = "application/json" if answer is None else "text/xml"
    made.http.answer(f"{BASE}/items", answer or {"ok": True}, method="POST", media_type=media_type)
    return made


async def send(made: StepHarness, **arguments: Any) -> Any:
    """Call the operation; return the request."""
    await made.run(ApiCall, {"connection": "shop", "operation": "POST /items", "arguments": arguments})
    return made.http.requests[-1]


UPLOAD = {
    "type": "object",
    "required": ["picture"],
    "properties": {
        "picture": {"type": "string", "format": "binary"},
        "more": {"type": "array", "items": {"type": "string", "format": "binary"}},
        "title": {"type": "string"},
        "about": {"type": "object", "properties": {"a": {"type": "integer"}}},
    },
}


class TestMultipart:
    async def test_files_values_and_objects_are_parts(self) -> None:
        operation = described({"multipart/form-data": {"schema": {"$ref": "#/components/schemas/Upload"}}})
        assert operation.body.files == ("picture", "more")
        made = harness(operation)
        file = made.ctx.files.add('a"b.png', b"\x89PNG\x00", "image/png")
        body = {"picture": file.model_dump(), "more": ["text"], "title": "Ö", "about": {"a": 1}}
        request = await send(made, body=body)
        media, _, boundary = request.headers["content-type"].partition("; boundary=")
        assert media == "multipart/form-data"
        parts = request.body.split(f"--{boundary}".encode())[1:-1]
        assert len(parts) == 4
        assert b'name="picture"; filename="a%22b.png"\r\nContent-Type: image/png\r\n\r\n\x89PNG\x00' in parts[0]
        assert b'name="more"; filename="text.txt"' not in parts[0]
        assert parts[2].endswith("\r\n\r\nÖ\r\n".encode())
        assert parts[3].endswith(b'\r\n\r\n{"a": 1}\r\n')

    async def test_a_file_that_the_run_does_not_have_is_refused(self) -> None:
        made = harness(described({"multipart/form-data": {"schema": UPLOAD}}))
        with pytest.raises(Exception, match="no file elsewhere"):
            await send(made, body={"picture": {"id": "elsewhere"}})
        assert made.http.requests == []

    @pytest.mark.parametrize("members", [{"media_type": "image/png\r\nX-Added: 1"}, {"size": "large"}, {"name": {}}])
    async def test_a_description_of_a_file_adds_no_header(self, members: dict[str, Any]) -> None:
        made = harness(described({"multipart/form-data": {"schema": UPLOAD}}))
        file = made.ctx.files.add("a.png", b"\x89PNG", "image/png")
        with pytest.raises(ComponentError, match="file"):
            await send(made, body={"picture": {**file.model_dump(), **members}})
        assert made.http.requests == []

    async def test_arguments_are_checked(self) -> None:
        made = harness(described({"multipart/form-data": {"schema": UPLOAD}}))
        with pytest.raises(ComponentError, match="are not valid"):
            await send(made, body={"title": "no picture"})


class TestFilesAndXml:
    async def test_a_body_can_be_one_file(self) -> None:
        operation = described({"image/png": {"schema": {"type": "string", "format": "binary"}}})
        made = harness(operation)
        file = made.ctx.files.add("a.png", b"\x89PNG", "image/png")
        request = await send(made, body=file.model_dump())
        assert (request.body, request.headers["content-type"]) == (b"\x89PNG", "image/png")

    async def test_an_xml_body_is_sent_as_written(self) -> None:
        made = harness(described({"application/xml": {"schema": {"type": "object"}}}))
        request = await send(made, body="<a>1</a>")
        assert (request.body, request.headers["content-type"]) == (b"<a>1</a>", "application/xml")

    async def test_an_answer_in_xml_is_data(self) -> None:
        made = harness(described({"application/xml": {}}), "<r xmlns='urn:x' n='1'><i>a</i><i>b</i><e/></r>")
        outputs = await made.run(
            ApiCall, {"connection": "shop", "operation": "POST /items", "arguments": {"body": "<a/>"}}
        )
        assert outputs["data"] == {"r": {"@n": "1", "i": ["a", "b"], "e": None}}

    @pytest.mark.parametrize(
        "content",
        [
            b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>',
            b"<a>" * 200 + b"</a>" * 200,
            b"<a>",
            b"no xml",
        ],
    )
    def test_hostile_xml_is_refused(self, content: bytes) -> None:
        with pytest.raises(Unreadable):
            data_of_xml(content, name="The response")


class TestCookies:
    async def test_are_sent_without_what_ends_them(self) -> None:
        parameters = [{"name": "sid", "in": "cookie", "required": True, "schema": {"type": "string"}}]
        made = harness(described({"application/json": {}}, parameters=parameters))
        request = await send(made, sid="a; admin=1\r\n", body={})
        assert request.headers["cookie"] == "sid=a%3B%20admin%3D1%0D%0A"


class TestContract:
    def test_operations_without_files_keep_their_pins(self) -> None:
        """Members that are newer than stored pins are omitted where they are empty."""
        operation = described({"application/json": {"schema": {"type": "object"}}})
        contract = contract_of(operation)
        assert "files" not in contract["body"]
        assert operation_of(json.loads(json.dumps(contract))) == operation
        assert asdict(operation)["body"].keys() - contract["body"].keys() == {"files"}
