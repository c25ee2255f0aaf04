import os
import platform
from typing import Any

import pytest

from headgate.sandbox import report
from headgate.sandbox.errors import SandboxUnavailable
from headgate.sandbox.guest import kernel
from headgate.sandbox.report import Layer, SandboxReport, probe


class TestProbe:
    def test_finds_every_layer_on_a_kernel_that_has_them(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(platform, "system", lambda: "Linux")
        monkeypatch.setattr(platform, "machine", lambda: "aarch64")
        monkeypatch.setattr(kernel, "landlock_abi", lambda: 1)
        monkeypatch.setattr(kernel, "seccomp_available", lambda: True)
        monkeypatch.setattr(kernel, "can_change_user", lambda: True)
        found = probe()
        assert found.complete
        assert [layer.name for layer in found.layers] == ["linux", "architecture", "landlock", "seccomp", "own user"]

    @pytest.mark.parametrize(
        ("place", "name", "value", "missing"),
        [
            (platform, "system", lambda: "Darwin", "linux"),
            (platform, "machine", lambda: "riscv64", "architecture"),
            (kernel, "landlock_abi", lambda: 0, "landlock"),
            (kernel, "seccomp_available", lambda: False, "seccomp"),
        ],
    )
    def test_names_the_layer_that_is_missing_and_the_remedy(
        self, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, value: object, missing: str
    ) -> None:
        monkeypatch.setattr(place, name, value)
        layers = {layer.name: layer for layer in probe().missing}
        assert missing in layers
        assert layers[missing].remedy

    def test_wants_root_to_be_able_to_become_somebody_else(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
        monkeypatch.setattr(kernel, "can_change_user", lambda: False)
        assert "own user" in [layer.name for layer in probe().missing]

    def test_changes_nothing(self) -> None:
        assert probe() == probe()


class TestRequire:
    def test_passes_where_all_is_present(self) -> None:
        SandboxReport((Layer("linux", present=True, detail=""),)).require()

    def test_names_missing_layers_their_remedies_and_the_way_out(self) -> None:
        found = SandboxReport(
            (
                Layer("linux", present=False, detail="this is Darwin", remedy="Run on Linux"),
                Layer("seccomp", present=True, detail="", remedy="never shown"),
            )
        )
        with pytest.raises(SandboxUnavailable) as caught:
            found.require()
        assert caught.value.status == 503
        assert caught.value.detail.endswith("missing: linux (this is Darwin).")
        assert caught.value.remedy.startswith("Run on Linux; or, ")
        assert report.INSECURE in caught.value.remedy
        assert caught.value.extra == {"missing": ["linux"]}
