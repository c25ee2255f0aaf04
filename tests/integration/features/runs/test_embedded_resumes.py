"""The embedded engine resumes, re-uses and reconciles as every engine must, on both databases."""

from tests.integration.features.runs.conformance_resume import ReconcilerConformance, ResumeConformance


class TestEmbeddedResume(ResumeConformance):
    pass


class TestEmbeddedReconciler(ReconcilerConformance):
    pass
