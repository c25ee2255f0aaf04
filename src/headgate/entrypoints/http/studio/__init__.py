"""The studio's page: built from `web/` by Vite into `built/`, which the wheel carries."""
