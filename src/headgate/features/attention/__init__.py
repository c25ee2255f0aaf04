"""What needs a human: failures, stopped triggers, connections and waiting approvals in one list."""
