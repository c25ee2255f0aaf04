"""Every route says what its caller must be allowed to do, and every permission is asked for somewhere."""

import re

import pytest
from fastapi import FastAPI

from headgate.entrypoints.http.app import create_app
from headgate.entrypoints.http.declarations import declarations, undeclared
from headgate.entrypoints.http.lazy_routes import load_routes
from headgate.features.access.caller import Needs, Public
from headgate.features.access.permissions import Permission
from headgate.foundation.settings import Settings
from headgate.toolkit.registry import TOOLS
from tests.architecture.source import PACKAGE, modules

pytestmark = pytest.mark.xdist_group("source")

BY_A_SERVICE = {
    Permission.CONNECTIONS_MANAGE: "routes declare connections.own; the service knows which ones are shared",
    Permission.MCP_SERVERS_PROGRAMS: "registering a server declares mcp_servers.manage; its body says what it is",
}
"""Permissions that no route and no tool declares, and why. A service asks for each."""


def whole_app() -> FastAPI:
    """The application with every router loaded."""
    app = create_app(Settings())
    load_routes(app)
    return app


class TestRoutes:
    def test_each_declare_one_permission_or_why_they_need_none(self) -> None:
        assert undeclared(whole_app().routes) == []

    def test_that_are_public_say_why(self) -> None:
        reasons = [
            declaration.reason for _, declaration in declarations(whole_app()) if isinstance(declaration, Public)
        ]
        assert reasons
        assert all(len(reason.split()) > 2 for reason in reasons)


class TestPermissions:
    def test_are_each_declared_or_asked_for_by_a_service(self) -> None:
        declared = {
            declaration.permission for _, declaration in declarations(whole_app()) if isinstance(declaration, Needs)
        }
        declared |= {tool.permission for tool in TOOLS}
        assert set(Permission) - declared == BY_A_SERVICE.keys()

    def test_that_no_route_declares_are_asked_for_all_the_same(self) -> None:
        text = "".join(path.read_text() for path in modules() if PACKAGE / "features/access" not in path.parents)
        asked = set(re.findall(r"\bPermission\.([A-Z_]+)\b", text))
        assert {one.name for one in BY_A_SERVICE} <= asked
