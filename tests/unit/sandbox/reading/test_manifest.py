import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.graph.manifest import NOTHING, Manifest
from headgate.sandbox.hosts import read_pattern
from headgate.sandbox.reading.manifest import derive_manifest


class TestDeriveManifest:
    def test_names_what_a_component_imports_reaches_and_makes(self) -> None:
        code = '''
"""Reads https://docs.example.org/ for nothing."""
import json, os.path as p
from typing import ClassVar
from headgate.sdk import Component, Data, field, output

class Weather(Component):
    """Asks https://docs.example.org/."""

    hosts: ClassVar[tuple[str, ...]] = ("API.example.org", "*.tiles.example.org", "example.net:8443")
    base = "https://geo.example.org/v1"

    @output()
    async def report(self) -> Data:
        import csv
        first = f"http://{self.city}.example.org/x"
        second = f"https://data.example.org:9000/{self.city}/x"
        third = f"https://up.example.org{self.path}"
        await self.ctx.files.save("a", b"", "text/plain")
'''
        assert derive_manifest(code) == Manifest(
            imports=("csv", "headgate", "json", "os", "typing"),
            hosts=(
                "*.tiles.example.org",
                "api.example.org",
                "data.example.org:9000",
                "example.net:8443",
                "geo.example.org",
            ),
            files=True,
        )

    @pytest.mark.parametrize(
        ("expression", "hosts"),
        [
            ("'https://a.org'", ("a.org",)),
            ("'see https://a.org/x and http://b.org:81, or HTTPS://C.ORG.'", ("a.org", "b.org:81", "c.org")),
            ("'https://a.org:443/' 'b'", ("a.org",)),
            ("'http://[2001:db8::1]:8080/'", ("[2001:db8::1]:8080",)),
            ("'http://0x7f000001/'", ("127.0.0.1",)),
            ("'https://user:secret@a.org/'", ()),
            ("'https://' + host", ()),
            ("f'https://a.org:{port}/'", ()),
            ("f'{scheme}://a.org/'", ()),
            ("'https://*'", ()),
            ("b'https://a.org'", ()),
            ("'ftp://a.org'", ()),
        ],
    )
    def test_takes_hosts_from_addresses_that_are_written_out(self, expression: str, hosts: tuple[str, ...]) -> None:
        assert derive_manifest(f"x = {expression}").hosts == hosts

    @pytest.mark.parametrize("value", ["('*',)", "('*:*',)", "('a b',)", "(name,)", "'a.org'", "[1]", "None"])
    def test_takes_no_declared_host_that_is_none_or_all(self, value: str) -> None:
        assert derive_manifest(f"class A:\n    hosts = {value}").hosts == ()

    @pytest.mark.parametrize(
        ("code", "files"),
        [
            ("from headgate.sdk import File", True),
            ("import headgate.sdk as s\nx: s.File", False),
            ("async def f(self): return await self.ctx.files.of_run()", True),
            ("ctx = 1\nctx.files", True),
            ("files = []\nfiles.append(1)", False),
        ],
    )
    def test_says_whether_files_are_used(self, code: str, files: bool) -> None:
        assert derive_manifest(code).files is files

    def test_is_empty_for_code_that_cannot_be_read(self) -> None:
        assert derive_manifest("import os\ndef") == NOTHING

    def test_ignores_relative_imports(self) -> None:
        assert derive_manifest("from . import a\nfrom .b import c").imports == ()

    @given(code=st.one_of(st.text(max_size=100), st.text(max_size=60).map(lambda text: f"x = {'https://' + text!r}")))
    def test_survives_any_text_with_hosts_that_can_be_read(self, code: str) -> None:
        for host in derive_manifest(code).hosts:
            assert str(read_pattern(host)) == host


class TestNamespaces:
    @pytest.mark.parametrize(
        "code",
        [
            'NS = {"atom": "http://example.org/ns/atom"}',
            'rows = tree.findall("a:row", namespaces={"a": "http://example.org/rows"})',
            'rows = tree.findall("{http://example.org/rows}row")',
            "text = '<feed xmlns=\"http://example.org/feed\">'",
            'ET.register_namespace("a", "http://example.org/a")',
            'KIND = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"',
        ],
    )
    def test_are_no_hosts(self, code: str) -> None:
        assert derive_manifest(code).hosts == ()

    def test_leave_real_addresses(self) -> None:
        code = 'NS = {"a": "http://example.org/a"}\nURL = "https://api.example.org/v1"'
        assert derive_manifest(code).hosts == ("api.example.org",)
