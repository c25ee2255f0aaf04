"""Settings in, parts wired: what the server and the command line both stand on."""
