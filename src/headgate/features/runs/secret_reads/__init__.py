"""Which secrets a run has read: for the audit log, for redaction in other processes, and for the list of variables."""
