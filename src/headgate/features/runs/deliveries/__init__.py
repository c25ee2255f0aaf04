"""Webhook deliveries of step outputs: rows with their own attempts, sent again without running the flow again."""
