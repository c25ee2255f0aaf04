"""Checks everything in a pack before it is installed. Its components are described and tried in the sandbox only."""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Annotated, Any

from pydantic import Field, StringConstraints, TypeAdapter, ValidationError

from headgate import __version__
from headgate.features.catalog.gallery import Recipe, load_gallery
from headgate.features.catalog.own.check import ComponentChecker
from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.errors import ComponentNotMade
from headgate.features.catalog.own.overlay import FlowCatalog
from headgate.features.catalog.pack_templates import parse_pack_template
from headgate.features.catalog.registry import Registry
from headgate.features.connections.presets import kind_of
from headgate.features.packs.archive import Pack
from headgate.features.packs.errors import BadPack, PackNameTaken
from headgate.features.packs.manifest import MOST_SKILL_BYTES, MOST_WORDS, SKILL_PHASES, ConnectionPreset
from headgate.foundation.errors import HeadgateError
from headgate.foundation.flow_threads import run_in_flow_thread
from headgate.foundation.guarded_http.errors import BadUrl
from headgate.graph.manifest import Manifest
from headgate.graph.names import listed
from headgate.graph.own_code import with_code
from headgate.graph.validate import check_draft
from headgate.sandbox.hosts import read_pattern
from headgate.sandbox.reading.manifest import derive_manifest
from headgate.sandbox.reading.scan import scan_component

_SDK = "headgate"
_CORRECT = "Ask the author for a corrected version."
_Text = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
_PHASE = re.compile(rf"^##[ \t]+({'|'.join(SKILL_PHASES)})[ \t]*$", re.IGNORECASE | re.MULTILINE)
_WORDS = TypeAdapter(Annotated[dict[_Text, _Text], Field(max_length=MOST_WORDS)])


@dataclass(frozen=True, slots=True)
class Contents:
    """A pack whose content passed its checks."""

    pack: Pack
    components: tuple[CheckedComponent, ...]
    recipes: tuple[Recipe, ...]
    presets: Mapping[str, ConnectionPreset]
    """Id to preset."""
    words: Mapping[str, Mapping[str, str]]
    """Language to texts: English to translation."""
    skills: Mapping[str, str]
    """Id to Markdown."""

    def items(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of `pack_items`."""
        name = self.pack.manifest.name
        for component in self.components:
            yield _item(name, "component", component.type.lower(), {"type": component.type}, component.code_hash)
        for recipe, text in zip(self.recipes, self.pack.texts("templates").values(), strict=True):
            yield _item(name, "template", recipe.key, {"text": text, "title": recipe.title})
        for id_, preset in self.presets.items():
            yield _item(name, "connection", id_, preset.model_dump(mode="json"))
        for language, words in self.words.items():
            yield _item(name, "translation", f"{name}:{language}", {"language": language, "words": dict(words)})
        for id_, text in self.skills.items():
            yield _item(name, "skill", id_, {"text": text})


async def check_contents(pack: Pack, checker: ComponentChecker, tenant_id: str, registry: Registry) -> Contents:
    """Return the content of a pack that this installation can use.

    Raises `BadPack`, `PackNameTaken` for names of Headgate, `SandboxUnavailable` or `SandboxBusy`.
    """
    manifest = pack.manifest
    if not manifest.headgate.includes(__version__):
        below = f" and below {manifest.headgate.below}" if manifest.headgate.below else ""
        raise BadPack(
            f"it works with Headgate from {manifest.headgate.since}{below}, and this is {__version__}",
            remedy="Install a version of the pack for this version of Headgate.",
        )
    await run_in_flow_thread(require_declared, pack)
    components = [await _component(checker, tenant_id, name, code) for name, code in pack.texts("components").items()]
    types = [component.type.lower() for component in components]
    if len(set(types)) < len(types):
        raise BadPack("two of its components have the same name", remedy=_CORRECT)
    return await run_in_flow_thread(_rest, pack, tuple(components), registry)


def reach_of(pack: Pack) -> Manifest:
    """Return everything that the components of a pack may access, from their source. Executes nothing."""
    reaches = [derive_manifest(code) for code in pack.texts("components").values()]
    return Manifest(
        imports=tuple(sorted({name for reach in reaches for name in reach.imports})),
        hosts=tuple(sorted({host for reach in reaches for host in reach.hosts})),
        files=any(reach.files for reach in reaches),
    )


def require_declared(pack: Pack) -> None:
    """Raise `BadPack` for code that the sandbox refuses, undeclared hosts and imports, and missing libraries."""
    manifest = pack.manifest
    try:
        declared = [read_pattern(host) for host in manifest.hosts]
    except BadUrl as error:
        raise BadPack(f"its declared hosts are invalid: {error.detail}", remedy=_CORRECT) from error
    for name, code in pack.texts("components").items():
        findings = scan_component(code)
        if findings:
            first = findings[0]
            raise BadPack(f"components/{name}.py, line {first.line}: {first.message}", remedy=first.remedy or _CORRECT)
        reach = derive_manifest(code)
        undeclared = [
            host for host in reach.hosts if not any(pattern.includes(read_pattern(host)) for pattern in declared)
        ]
        if undeclared:
            raise BadPack(f"components/{name}.py connects to {undeclared[0]}, which it does not declare")
        foreign = [top for top in reach.imports if top not in sys.stdlib_module_names and top != _SDK]
        unknown = sorted(set(foreign) - set(manifest.libraries))
        if unknown:
            raise BadPack(f"components/{name}.py imports {unknown[0]}, which it does not declare as a library")
    missing = [library for library in manifest.libraries if library == _SDK or find_spec(library) is None]
    if missing:
        raise BadPack(
            f"it needs libraries that are not installed: {listed(missing)}",
            remedy="Install them in Headgate's environment on every machine first.",
        )


async def _component(checker: ComponentChecker, tenant_id: str, name: str, code: str) -> CheckedComponent:
    try:
        return await checker.check(tenant_id, code)
    except ComponentNotMade as error:
        findings = error.extra.get("findings")
        codes = (
            [finding.get("code") for finding in findings if isinstance(finding, dict)]
            if isinstance(findings, list)
            else []
        )
        if "reserved_name" in codes:
            raise PackNameTaken([f"components/{name}.py ({error.detail})"]) from error
        raise BadPack(f"components/{name}.py: {error.detail.rstrip('.')}", remedy=error.remedy) from error


def _rest(pack: Pack, components: tuple[CheckedComponent, ...], registry: Registry) -> Contents:
    name = pack.manifest.name
    presets = {f"{name}.{id_}": _preset(id_, text) for id_, text in pack.texts("connections").items()}
    words = {language: _translations(language, text) for language, text in pack.texts("translations").items()}
    catalog = FlowCatalog(registry, components)
    recipes = tuple(_recipe(name, key, text, catalog) for key, text in pack.texts("templates").items())
    taken = sorted({recipe.key for recipe in load_gallery()} & {recipe.key for recipe in recipes})
    if taken:
        raise PackNameTaken(taken)
    skills = {f"{name}.{id_}": _skill(id_, text) for id_, text in pack.texts("skills").items()}
    return Contents(pack, components, recipes, presets, words, skills)


def _recipe(pack: str, key: str, text: str, catalog: FlowCatalog) -> Recipe:
    try:
        recipe = parse_pack_template(f"{pack}-{key}", text)
        unknown = sorted({node.type for node in recipe.flow().nodes if catalog.template(node.type) is None})
    except (HeadgateError, ValueError, RecursionError) as error:
        reason = error.detail if isinstance(error, HeadgateError) else str(error)
        raise BadPack(f"templates/{key}.flow: {reason[:500].rstrip('.')}", remedy=_CORRECT) from error
    if unknown:
        raise BadPack(f"templates/{key}.flow uses components that do not exist: {listed(unknown)}", remedy=_CORRECT)
    flow = with_code(recipe.flow(), catalog)
    issues = check_draft(flow, catalog)
    if issues:
        raise BadPack(f"templates/{key}.flow: {str(issues[0]).rstrip('.')}", remedy=issues[0].remedy or _CORRECT)
    return recipe


def _preset(id_: str, text: str) -> ConnectionPreset:
    try:
        preset = ConnectionPreset.model_validate_json(text)
        kind_of(preset)
    except ValidationError as error:
        raise BadPack(f"connections/{id_}.json is invalid: {_first(error)}", remedy=_CORRECT) from error
    except HeadgateError as error:
        raise BadPack(f"connections/{id_}.json: {error.detail.rstrip('.')}", remedy=error.remedy) from error
    return preset


def _translations(language: str, text: str) -> dict[str, str]:
    try:
        return _WORDS.validate_json(text)
    except ValidationError as error:
        raise BadPack(f"translations/{language}.json is invalid: {_first(error)}", remedy=_CORRECT) from error


def _skill(id_: str, text: str) -> str:
    if len(text.encode()) > MOST_SKILL_BYTES:
        raise BadPack(f"skills/{id_}.md has more than {MOST_SKILL_BYTES} bytes", remedy=_CORRECT)
    if not _PHASE.search(text):
        raise BadPack(
            f"skills/{id_}.md has no section of a phase",
            remedy=f"Begin sections with headings such as '## Plan': {listed(SKILL_PHASES)}.",
        )
    return text


def _first(error: ValidationError) -> str:
    return str(error.errors(include_url=False, include_input=False)[0]["msg"])


def _item(pack: str, kind: str, key: str, content: Mapping[str, Any], code_hash: str | None = None) -> dict[str, Any]:
    return {"pack": pack, "kind": kind, "key": key, "code_hash": code_hash, "content": dict(content)}
