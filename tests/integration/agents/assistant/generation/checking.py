"""The checker, with a sandbox of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass

from headgate.features.catalog.own.checked import CheckedComponent
from headgate.features.catalog.own.errors import ComponentNotMade
from headgate.foundation.errors import Invalid
from headgate.graph.template import Template
from headgate.sandbox.limits import PoolSize
from headgate.sandbox.manifest import Manifest
from headgate.sandbox.pool import SandboxPool
from headgate.sandbox.scan import scan_component
from headgate.sdk.hosting import DESCRIBE
from headgate.sdk.reserved import reserved_names


@dataclass(frozen=True)
class SandboxChecker:
    pool: SandboxPool

    @classmethod
    @asynccontextmanager
    async def opened(cls) -> AsyncIterator["SandboxChecker"]:
        pool = SandboxPool(scan=False, size=PoolSize(running=2, spare=1, idle=2), hosts=(DESCRIBE,))
        try:
            yield cls(pool)
        finally:
            await pool.aclose()

    async def check(self, tenant_id: str, code: str) -> CheckedComponent:
        findings = [*map(asdict, scan_component(code)), *map(asdict, reserved_names(code))]
        if findings:
            raise ComponentNotMade(findings[0]["message"], remedy=findings[0]["remedy"], findings=list(findings))
        manifest = Manifest(imports=("headgate", "os", "re", "no_such_module"))
        try:
            told = await self.pool.call_host(tenant_id, code, DESCRIBE, {}, manifest=manifest)
        except Invalid as error:
            raise ComponentNotMade(error.detail, remedy=error.remedy, findings=[]) from error
        return CheckedComponent(code, Template.model_validate(told["template"]), manifest)  # type: ignore[index, call-overload]
