import subprocess
import sys
from types import SimpleNamespace

import pytest

from headgate.features.models import providers
from headgate.features.models.errors import ProviderNotInstalled, UnknownProvider
from headgate.features.models.providers import (
    PROVIDER_VARIABLES,
    PROVIDERS,
    Provider,
    find_provider,
    import_chat_class,
    is_installed,
)


class TestTable:
    @pytest.mark.parametrize("provider", PROVIDERS.values(), ids=lambda provider: str(provider.id))
    def test_every_provider_says_what_to_install_and_where_to_read(self, provider: Provider) -> None:
        assert provider.install == f"pip install 'headgate[{provider.extra}]'"
        assert provider.docs.startswith("https://")

    def test_every_variable_belongs_to_one_provider(self) -> None:
        names = [name for p in PROVIDERS.values() for s in p.all_settings for name in s.variables]
        assert len(names) == len(set(names)) == len(PROVIDER_VARIABLES)

    def test_only_providers_without_a_fixed_address_let_a_flow_choose_one(self) -> None:
        assert {p.id for p in PROVIDERS.values() if p.flow_base_url} == {"ollama", "openai_compatible"}


class TestFindProvider:
    @pytest.mark.parametrize("written", ["openai_compatible", "OpenAI-Compatible", " openai_compatible "])
    def test_takes_any_case_and_either_dash(self, written: str) -> None:
        assert find_provider(written).id == "openai_compatible"

    @pytest.mark.parametrize("provider", ["", " ", "Unknown"])
    def test_says_that_a_model_has_no_provider(self, provider: str) -> None:
        with pytest.raises(UnknownProvider) as caught:
            find_provider(provider)
        assert caught.value.detail == "The selected model is missing a provider."
        assert "reselect a model" in caught.value.remedy

    def test_names_the_nearest_for_an_unknown_one(self) -> None:
        with pytest.raises(UnknownProvider) as caught:
            find_provider("antropic")
        assert caught.value.extra["nearest"] == "anthropic"
        assert "Did you mean 'anthropic'?" in caught.value.remedy

    def test_lists_the_providers_when_none_is_near(self) -> None:
        with pytest.raises(UnknownProvider, match="groq"):
            find_provider("xyzzy")


class TestImportChatClass:
    def test_names_the_extra_of_a_package_that_is_missing(self) -> None:
        provider = Provider(
            id="x",
            label="Example",
            extra="example",
            module="no_such_module_here",
            class_name="X",
            params={},
            docs="",
            client="own",
        )
        assert not is_installed(provider)
        with pytest.raises(ProviderNotInstalled) as caught:
            import_chat_class(provider)
        assert caught.value.remedy == "Install it with: pip install 'headgate[example]'"

    @pytest.mark.parametrize("module", ["langchain", "langgraph"])
    def test_without_the_packages_of_every_model_names_the_extra(
        self, module: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def find_spec(name: str) -> object:
            return None if name == module else object()

        monkeypatch.setattr(providers, "find_spec", find_spec)
        monkeypatch.setattr(providers, "PathFinder", SimpleNamespace(find_spec=find_spec))
        with pytest.raises(ProviderNotInstalled) as caught:
            import_chat_class(find_provider("openai"))
        assert "headgate[openai]" in (caught.value.remedy or "")

    def test_wants_further_modules_too(self) -> None:
        provider = Provider(
            id="x",
            label="E",
            extra="e",
            module="json",
            class_name="JSONDecoder",
            params={},
            client="own",
            docs="",
            needs=("nope_nope",),
        )
        assert not is_installed(provider)

    def test_gives_the_class_of_an_installed_package(self) -> None:
        assert import_chat_class(find_provider("openai")).__name__ == "ChatOpenAI"


class TestImports:
    def test_the_service_loads_without_langchain_and_without_any_provider(self) -> None:
        code = (
            "import sys, headgate.features.models.service\n"
            "heavy = [m for m in sys.modules if m.split('.')[0] in "
            "('langchain_core', 'langchain', 'langchain_openai', 'openai', 'anthropic', 'xllamacpp')]\n"
            "print(heavy)"
        )
        shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert shown.stdout.strip() == "[]"
