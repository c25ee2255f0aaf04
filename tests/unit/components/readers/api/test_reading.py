"""Descriptions of APIs: every format, hostile documents, and what is never kept."""

import json
from typing import Any

import pytest

from headgate.components.readers.api.description import SCHEMA_BYTES, ApiDescription, Operation, description_of
from headgate.components.readers.api.reading import read_api
from headgate.components.readers.document import Unreadable
from tests.support.api_documents import CURL, HAR, ISSUES, POSTMAN, SWAGGER, as_json, as_yaml

LIST, CREATE = "GET /projects/{project}/issues", "POST /projects/{project}/issues"


def operations(description: ApiDescription) -> dict[str, Operation]:
    return {operation.key: operation for operation in description.operations}


def with_path(operation: Any, **more: Any) -> bytes:
    """A document with one operation."""
    return as_json({"openapi": "3.1.0", "info": {}, "paths": {"/a": {"get": operation}}, **more})


class TestOpenApi:
    @pytest.mark.parametrize("written", [as_json, as_yaml])
    def test_json_and_yaml_are_read_alike(self, written: Any) -> None:
        description = read_api(written(ISSUES))
        assert description.title == "Tracker"
        assert description.server == "https://api.tracker.example/v1"
        assert description.authentication.kind == "api_key_header"
        assert description.authentication.fields == {"header": "X-Tracker-Key"}
        assert [operation.key for operation in description.operations] == [LIST, CREATE]
        assert description.skipped == ("POST /files: its body is image/*, which cannot be sent",)

    def test_parameters_become_arguments_and_headers_of_the_connection_do_not(self) -> None:
        operation = operations(read_api(as_json(ISSUES)))[LIST]
        assert list(operation.input["properties"]) == ["state", "labels", "cursor", "X-Trace", "project"]  # type: ignore[arg-type]
        assert operation.input["required"] == ["project"]
        assert {(known.name, known.location, known.explode) for known in operation.parameters} >= {
            ("labels", "query", False),
            ("project", "path", False),
            ("X-Trace", "header", False),
        }

    def test_a_body_omits_what_only_the_server_sets_and_a_response_has_it(self) -> None:
        operation = operations(read_api(as_json(ISSUES)))[CREATE]
        sent = operation.input["$defs"]["Issue"]  # type: ignore[index, call-overload]
        assert sent["required"] == ["title"]  # type: ignore[index, call-overload]
        assert "id" not in sent["properties"]  # type: ignore[index, call-overload, operator]
        received = operation.output["$defs"]["Issue"]  # type: ignore[index, call-overload]
        assert received["properties"]["state"]["enum"] == ["open", "closed", None]  # type: ignore[index, call-overload]
        assert received["properties"]["state"]["type"] == ["string", "null"]  # type: ignore[index, call-overload]

    def test_pages_are_found(self) -> None:
        operation = operations(read_api(as_json(ISSUES)))[LIST]
        assert operation.paging == {"paging": "cursor", "parameter": "cursor", "next": "next_cursor", "items": "items"}

    def test_the_form_survives_json(self) -> None:
        description = read_api(as_json(ISSUES))
        assert description_of(json.loads(json.dumps(description.as_json()))) == description

    def test_yes_and_dates_in_yaml_are_text(self) -> None:
        parameter = "{name: q, in: query, schema: {enum: [yes, no, true]}}"
        text = f"openapi: 3.1.0\ninfo: {{title: 2024-01-01}}\npaths: {{/a: {{get: {{parameters: [{parameter}]}}}}}}"
        description = read_api(text.encode())
        assert description.title == "2024-01-01"
        assert description.operations[0].input["properties"]["q"]["enum"] == ["yes", "no", True]  # type: ignore[index, call-overload]


class TestOtherFormats:
    def test_swagger(self) -> None:
        description = read_api(as_json(SWAGGER))
        assert (description.format, description.server) == ("Swagger 2.0", "https://api.tracker.example/v1")
        assert description.authentication.fields == {"parameter": "key"}
        (operation,) = description.operations
        assert operation.input["required"] == ["body"]
        assert operation.parameters[0].explode
        assert operation.output is not None

    def test_curl(self) -> None:
        description = read_api(CURL.encode())
        assert description.server == "https://api.tracker.example"
        create = operations(description)["POST /v1/projects/{id}/issues"]
        assert create.body is not None
        assert create.input["properties"]["body"]["properties"]["votes"] == {"type": "integer"}  # type: ignore[index, call-overload]
        assert {parameter.name for parameter in create.parameters} == {"id", "dry_run", "x-trace"}
        assert "GET /v1/projects" in operations(description)

    def test_postman(self) -> None:
        (operation,) = read_api(as_json(POSTMAN)).operations
        assert operation.key == "POST /v1/projects/{project}/issues"
        assert (operation.summary, operation.tags) == ("Create an issue", ("Issues",))

    def test_har(self) -> None:
        description = read_api(as_json(HAR))
        assert [operation.key for operation in description.operations] == ["GET /v1/projects"]

    @pytest.mark.parametrize("document", [CURL.encode(), as_json(POSTMAN), as_json(HAR)])
    def test_no_value_of_a_header_or_a_credential_is_kept(self, document: bytes) -> None:
        assert "canary" not in json.dumps(read_api(document).as_json())


class TestHostileDocuments:
    @pytest.mark.parametrize(
        ("content", "reason"),
        [
            (b"", "it is no object"),
            (b"[]", "it is no object"),
            (b'{"openapi": "3.1.0",', "line 1"),
            (b"openapi: 3.1.0\npaths: [", "line 3"),
            (b"a: &a [*a]", "nested more than|is no object|no member"),
            (b"{}", "no member 'openapi'"),
            (b'{"openapi": "4.0"}', "'openapi: 4.0' is not supported"),
            (b'{"openapi": "3.1.0"}', "at 'paths'"),
            (b'{"openapi": "3.1.0", "paths": {}}', "no operation"),
            (b"[" * 100_000, "nested too deep|line 1"),
            (b'{"a":' * 5_000 + b"1" + b"}" * 5_000, "nested|depth limit"),
            (b"!!python/object/apply:os.system ['true']", "line 1"),
            (b"curl 'unclosed", "command line"),
        ],
    )
    def test_a_document_that_is_none_is_an_error_with_its_place(self, content: bytes, reason: str) -> None:
        with pytest.raises(Unreadable, match=reason):
            read_api(content)

    def test_an_operation_that_refers_to_another_document_is_skipped_with_the_reason(self) -> None:
        other = {"parameters": [{"$ref": "https://evil.example/p.json"}]}
        document = {"openapi": "3.1.0", "paths": {"/a": {"get": other, "post": {}}}}
        description = read_api(as_json(document))
        assert description.skipped == ("GET /a: it refers to another document, 'https://evil.example/p.json'",)

    @pytest.mark.parametrize("reference", ["#/components/schemas/Missing", "file:///etc/passwd", "other.yaml#/A"])
    def test_a_reference_that_leads_nowhere_is_named(self, reference: str) -> None:
        response = {"200": {"content": {"application/json": {"schema": {"$ref": reference}}}}}
        with pytest.raises(Unreadable, match="no operation that can be used: GET /a"):
            read_api(with_path({"responses": response}))

    def test_references_in_a_loop_end(self) -> None:
        components = {
            "parameters": {"a": {"$ref": "#/components/parameters/b"}, "b": {"$ref": "#/components/parameters/a"}}
        }
        with pytest.raises(Unreadable, match="leads to itself"):
            read_api(with_path({"parameters": [{"$ref": "#/components/parameters/a"}]}, components=components))

    def test_a_schema_that_contains_itself_is_read(self) -> None:
        node = {
            "type": "object",
            "properties": {"children": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}}},
        }
        schema = {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}}}}
        description = read_api(with_path({"responses": schema}, components={"schemas": {"Node": node}}))
        assert description.operations[0].output == {
            "$ref": "#/$defs/Node",
            "$defs": {
                "Node": {
                    "type": "object",
                    "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
                }
            },
        }

    def test_a_schema_that_is_too_large_is_open_at_its_far_end(self) -> None:
        schemas = {
            f"S{number}": {
                "type": "object",
                "properties": {f"a long name of a member {n}": {"type": "string"} for n in range(50)}
                | {"next": {"$ref": f"#/components/schemas/S{number + 1}"}},
            }
            for number in range(100)
        } | {"S100": {"type": "string"}}
        response = {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/S0"}}}}}
        output = read_api(with_path({"responses": response}, components={"schemas": schemas})).operations[0].output
        assert output is not None
        assert 1_000 < len(json.dumps(output)) < 2 * SCHEMA_BYTES
        assert {} in output["$defs"].values()  # type: ignore[union-attr]

    def test_aliases_of_yaml_do_not_multiply(self) -> None:
        lines = ["a0: &a0 {type: string}"]
        lines += [f"a{n}: &a{n} {{type: object, properties: {{x: *a{n - 1}, y: *a{n - 1}}}}}" for n in range(1, 60)]
        text = "\n".join(
            [
                *lines,
                "openapi: 3.1.0",
                "paths: {/a: {get: {responses: {200: {content: {application/json: {schema: *a59}}}}}}}",
            ]
        )
        (operation,) = read_api(text.encode()).operations
        assert operation.output is None or len(json.dumps(operation.output)) <= SCHEMA_BYTES

    @pytest.mark.parametrize(
        "server",
        ["https://user:canary@api.example", "ftp://api.example", "https://{host}", "javascript:alert(1)", "/v1"],
    )
    def test_a_server_that_is_no_plain_address_is_ignored(self, server: str) -> None:
        assert read_api(with_path({}, servers=[{"url": server}])).server == ""

    @pytest.mark.parametrize("path", ["no-slash", "/a b", "/a\u202eb", "//\n"])
    def test_a_path_that_is_none_is_skipped(self, path: str) -> None:
        document = {"openapi": "3.1.0", "paths": {path: {"get": {}}, "/ok": {"get": {}}}}
        assert [operation.key for operation in read_api(as_json(document)).operations] == ["GET /ok"]

    def test_invisible_characters_are_removed(self) -> None:
        description = read_api(with_path({"summary": "Get\u202e it\u200b", "description": "x" * 9_000}))
        assert description.operations[0].summary == "Get it"
        assert len(description.operations[0].description) <= 2_000
