"""Sources of knowledge bases: storages, web pages, queries and mailboxes whose content becomes documents."""
