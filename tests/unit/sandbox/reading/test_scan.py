import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.sandbox.errors import CodeRefused
from headgate.sandbox.reading.rules import (
    COMPONENT_RULES,
    FORBIDDEN_ATTRIBUTES,
    FORBIDDEN_MEMBERS,
    FORBIDDEN_MODULES,
    FORBIDDEN_NAMES,
)
from headgate.sandbox.reading.scan import check_code, check_component, scan_code, scan_component

TAIL = "\ndef run(inputs):\n    return inputs\n"


def found(code: str) -> list[tuple[int, str]]:
    return [(finding.line, finding.code) for finding in scan_code(code, "run")]


class TestScanCode:
    def test_passes_ordinary_code(self) -> None:
        code = """
import json, re, math, datetime as dt
from collections import Counter
from os import path
import urllib.parse
import os.path

@staticmethod
def helper(text: str) -> list[str]:
    return re.compile(r"\\w+").findall(text)

class Thing:
    def __init__(self): self.name = self.__class__.__name__
    def open(self): return 1

def run(inputs):
    words = Counter(helper(inputs["text"]))
    assert Thing().open() == 1
    return {"words": words.most_common(3), "base": path.basename("a/b"), "q": urllib.parse.quote("å")}
"""
        assert scan_code(code, "run") == ()

    @pytest.mark.parametrize("module", sorted(FORBIDDEN_MODULES))
    def test_finds_forbidden_modules_however_imported(self, module: str) -> None:
        parent, _, last = module.rpartition(".")
        spellings = [f"import {module}", f"import json, {module} as x", f"from {module} import y"]
        if parent:
            spellings.append(f"from {parent} import {last}")
        for spelling in spellings:
            assert found(spelling + TAIL) == [(1, "forbidden_import")], spelling

    def test_finds_what_lies_below_a_forbidden_module(self) -> None:
        assert found("import importlib.util" + TAIL) == [(1, "forbidden_import")]

    def test_finds_relative_imports(self) -> None:
        assert found("from . import settings" + TAIL) == [(1, "forbidden_import")]

    @pytest.mark.parametrize("name", sorted(FORBIDDEN_NAMES))
    def test_finds_forbidden_names_where_they_are_used(self, name: str) -> None:
        assert found(f"def run(inputs):\n    x = {name}\n    return x") == [(2, "forbidden_name")]

    @pytest.mark.parametrize(
        "binding", ["def open(x): return x", "open = print", "from gzip import open", "import x as open"]
    )
    def test_takes_names_the_code_gives_a_meaning_of_its_own(self, binding: str) -> None:
        assert found(f"{binding}\ndef run(inputs):\n    return open(inputs)") == []

    @pytest.mark.parametrize(
        ("module", "member"), [(module, member) for module, members in FORBIDDEN_MEMBERS.items() for member in members]
    )
    def test_finds_forbidden_members_under_any_alias(self, module: str, member: str) -> None:
        for use in (f"import {module}\nx = {module}.{member}", f"import {module} as m\nx = m.{member}"):
            assert found(use + TAIL) == [(2, "forbidden_member")], use
        assert found(f"from {module} import {member} as m" + TAIL) == [(1, "forbidden_member")]

    @pytest.mark.parametrize("attribute", sorted(FORBIDDEN_ATTRIBUTES))
    def test_finds_ways_into_the_interpreter(self, attribute: str) -> None:
        assert found(f"x = ().{attribute}" + TAIL) == [(1, "forbidden_attribute")]
        assert found(f"x = getattr((), '{attribute}')" + TAIL) == [(1, "forbidden_attribute")]

    def test_names_the_line_of_a_syntax_error(self) -> None:
        (finding,) = scan_code("def run(inputs):\n    return 1 +\n", "run")
        assert (finding.code, finding.line) == ("syntax_error", 2)
        assert "invalid syntax" in finding.message

    @pytest.mark.parametrize(
        "code",
        ["a\0b", "'\ud800'", "(" * 50_000, "-" * 90_000 + "1", "a" + ".a" * 45_000, "x" + "()" * 45_000, "9" * 9_000],
    )
    def test_answers_unreadable_code(self, code: str) -> None:
        assert found(code)[0] == (1, "syntax_error")

    @pytest.mark.parametrize(
        "definition",
        [
            "def run(inputs): return 1",
            "async def run(inputs): return 1",
            "run = lambda inputs: 1",
            "if True:\n    def run(inputs): return 1",
            "try:\n    import json\nexcept ImportError:\n    pass\nelse:\n    run = json.dumps",
            "from json import dumps as run",
        ],
    )
    def test_accepts_every_way_to_define_the_function(self, definition: str) -> None:
        assert found(definition) == []

    @pytest.mark.parametrize("code", ["", "def other(run): return run", "class A:\n    def run(self): return 1"])
    def test_misses_a_function_that_is_not_at_module_level(self, code: str) -> None:
        assert found(code) == [(1, "missing_function")]

    def test_says_which_functions_there_are(self) -> None:
        (finding,) = scan_code("def main(): pass\ndef helper(): pass", "run")
        assert finding.message == "the code defines no function 'run'; it defines main, helper"

    def test_lists_everything_in_the_order_of_lines(self) -> None:
        code = "def run(inputs):\n    eval('1')\n    return (open, ().__mro__)\nimport socket\n"
        assert found(code) == [
            (2, "forbidden_name"),
            (3, "forbidden_name"),
            (3, "forbidden_attribute"),
            (4, "forbidden_import"),
        ]

    def test_keeps_quiet_about_doubtful_escapes(self) -> None:
        assert found("PATTERN = '\\d+'" + TAIL) == []

    @given(code=st.text(max_size=200))
    def test_answers_any_text(self, code: str) -> None:
        scan_code(code, "run")

    @given(depth=st.integers(1, 90))
    def test_finds_what_hides_deep(self, depth: int) -> None:
        code = "(" * depth + "eval" + ",)" * depth + TAIL
        ast.parse(code)
        assert found(code) == [(1, "forbidden_name")]


class TestCheckCode:
    def test_is_silent_about_good_code(self) -> None:
        check_code(TAIL, "run")

    def test_raises_with_line_remedy_and_every_finding(self) -> None:
        with pytest.raises(CodeRefused) as caught:
            check_code("import socket\nimport ctypes" + TAIL, "run")
        assert caught.value.detail == "line 1: 'socket' cannot be imported in a node (1 more)"
        assert "HTTPRequest" in caught.value.remedy
        findings = caught.value.problem()["findings"]
        assert isinstance(findings, list)
        assert [(finding["line"], finding["code"]) for finding in findings if isinstance(finding, dict)] == [
            (1, "forbidden_import"),
            (2, "forbidden_import"),
        ]


def found_in_component(code: str) -> list[tuple[int, str]]:
    return [(finding.line, finding.code) for finding in scan_component(code)]


class TestScanComponent:
    def test_passes_components_that_use_the_sdk_and_the_web(self) -> None:
        code = """
import json, socket, ssl, urllib.request, http.client
import httpx2, requests
import headgate.sdk
from headgate.sdk import Component, File, Text, field, output
from headgate.sdk.values import Message

class Weather(Component):
    hosts = ("api.example.org",)
    city: Text = field(label="City")

    @output()
    async def report(self) -> Text:
        answer = await self.ctx.http.request("GET", "https://api.example.org/" + self.city)
        return answer.text + str(await self.ctx.files.of_run()) + self.__class__.__name__
"""
        assert scan_component(code) == ()

    @pytest.mark.parametrize("module", sorted(COMPONENT_RULES.modules))
    def test_finds_forbidden_modules_however_imported(self, module: str) -> None:
        for spelling in (f"import {module}", f"import json, {module} as x", f"from {module} import y"):
            assert found_in_component(spelling) == [(1, "forbidden_import")], spelling

    @pytest.mark.parametrize(
        "module", ["headgate.features.secrets", "headgate.foundation.settings", "headgate.sandbox"]
    )
    def test_finds_the_rest_of_the_platform(self, module: str) -> None:
        assert [finding.remedy for finding in scan_component(f"import json\nfrom {module} import x")] == [
            "Import what a component needs from headgate.sdk."
        ]

    @pytest.mark.parametrize(
        "line",
        [
            "os.environ['A']",
            "os.getenv('A')",
            "os.putenv('A', 'b')",
            "open('/etc/passwd')",
            "breakpoint()",
            *(f"().{name}" for name in ("__subclasses__", "__globals__", "__builtins__", "__bases__", "__mro__")),
            *(f"getattr(x, '{name}')" for name in ("__code__", "__closure__", "__globals__")),
            "eval('1')",
            "exec('x = 1')",
            "__import__('os')",
            "os.system('true')",
            "io.open('x')",
        ],
    )
    def test_finds_what_the_seed_denies_with_its_line(self, line: str) -> None:
        code = f"import io, os\n\nclass A:\n    def run(self, x):\n        return {line}\n"
        assert [number for number, _ in found_in_component(code)] == [5]

    def test_speaks_of_components(self) -> None:
        with pytest.raises(CodeRefused, match=r"line 2: 'open' is not available in a component .*self.ctx.files") as e:
            check_component("x = 1\ny = open('z')\nimport pty\n")
        assert len(e.value.extra["findings"]) == 2  # type: ignore[arg-type]

    def test_says_where_code_is_no_python(self) -> None:
        assert found_in_component("x = 1\ndef") == [(2, "syntax_error")]

    @given(code=st.text(max_size=200))
    def test_survives_any_text(self, code: str) -> None:
        for finding in scan_component(code):
            assert finding.line >= 1


class TestLongCode:
    """Python's parser stops the whole server while it reads: a megabyte of `-a,` took it seven seconds."""

    @pytest.mark.parametrize("code", ["x = [" + "-a," * 7_000 + "]", "# " + "a" * 100_000, "(" * 30_000])
    def test_is_not_read_at_all(self, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ast.parse", None)
        for found in (scan_component(code), scan_code(code, "f")):
            assert [one.message for one in found] == ["the code is longer than 100000 characters or 20000 tokens"]
