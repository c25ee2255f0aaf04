"""The embedded engine keeps the conformance suite, on both databases."""

from tests.integration.runs.conformance import BackendConformance, DeathConformance


class TestEmbeddedBackend(BackendConformance):
    pass


class TestEmbeddedBackendAfterDeaths(DeathConformance):
    pass
