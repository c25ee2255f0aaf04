"""Records which secrets a run has read: for the audit log, redaction in other processes, and the list of variables."""
