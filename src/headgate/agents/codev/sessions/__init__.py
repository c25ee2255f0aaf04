"""Sessions: start, run, resume, report, summarise and roll back."""
