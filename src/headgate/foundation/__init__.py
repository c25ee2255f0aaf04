"""Settings, database, errors, crypto, events, telemetry and ids: what every other floor stands on."""
