"""Git repositories of connections: read, committed to, and changes opened at GitHub, GitLab, Gitea and Forgejo."""
