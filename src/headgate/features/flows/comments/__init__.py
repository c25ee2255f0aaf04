"""Comments on flows and on their nodes, with mentions of users."""
