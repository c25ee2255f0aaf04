"""Mail and notifications, sent and read through connections."""
