import json
import sys
import types

import pytest

from headgate.sandbox import libraries
from headgate.sandbox.guest.calls import answer
from headgate.sdk.hosting import describe, produce


class TestReadablePaths:
    def test_name_the_standard_library_and_what_is_imported_from(self) -> None:
        paths = libraries.readable_paths(("/some/packages",))
        assert "/some/packages" in paths
        assert any(path.startswith(sys.base_prefix) for path in paths)
        assert len(paths) == len(set(paths))

    def test_name_no_folder_of_people_or_settings(self) -> None:
        assert not set(libraries.readable_paths(())) & {
            "/",
            "/etc",
            "/home",
            "/root",
            "/tmp",
            "/var",
            "/proc",
            "/sys",
            "",
        }

    def test_follow_the_interpreters_library_path(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/one:/opt/two:")
        assert {"/opt/one", "/opt/two"} <= set(libraries.readable_paths(()))


class TestEnvironment:
    def test_hands_on_the_library_path_and_nothing_else(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HEADGATE_SECRET_KEY", "x")
        monkeypatch.setenv("LD_LIBRARY_PATH", "/opt/one")
        assert libraries.environment() == {"LD_LIBRARY_PATH": "/opt/one", "MALLOC_ARENA_MAX": "1"}
        monkeypatch.delenv("LD_LIBRARY_PATH")
        assert libraries.environment() == {"MALLOC_ARENA_MAX": "1"}


class TestPreload:
    def test_names_modules_that_exist(self) -> None:
        for name in libraries.PRELOAD:
            __import__(name)


class TestCertificates:
    def test_are_the_authorities_and_not_the_keys_that_lie_beside_them(self) -> None:
        assert not {"/etc", "/etc/ssl", "/etc/pki", "/etc/pki/tls", "/etc/ssl/private"} & set(libraries.CERTIFICATES)

    def test_are_the_operators_own_where_he_names_some(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SSL_CERT_FILE", "/somewhere/authority.pem")
        monkeypatch.setenv("SSL_CERT_DIR", "")
        assert libraries.certificate_variables() == {"SSL_CERT_FILE": "/somewhere/authority.pem"}


class TestRehearsal:
    def test_goes_once_through_what_components_do(self) -> None:
        module = types.ModuleType("rehearsal_of_the_test")
        sys.modules[module.__name__] = module
        hosts = {libraries.HOSTS[0]: describe, libraries.HOSTS[1]: produce}
        answers = [json.loads(answer(module, one, 100_000, hosts)) for one in json.loads(libraries.REHEARSAL)]
        assert answers[0]["value"]["class_name"] == "Sample"
        assert answers[1]["value"]["outputs"] == {
            "first": {"value": "sample"},
            "second": {"value": {"text": "sample", "number": 2}},
        }
