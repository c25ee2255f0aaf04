"""The embedded engine leaves in the audit log what every engine must, on both databases."""

from tests.integration.features.runs.conformance_audit import AuditConformance


class TestEmbeddedAudit(AuditConformance):
    pass
