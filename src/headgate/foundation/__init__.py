"""Foundation layer: settings, database, errors, crypto, events, telemetry and ids."""
