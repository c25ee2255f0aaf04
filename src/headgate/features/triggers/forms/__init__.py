"""Forms of published flows on public pages: each submission is an occurrence of a trigger."""
