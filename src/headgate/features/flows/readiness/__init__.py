"""Is a flow ready to run? The one check behind every entry point (ADR 0025)."""
