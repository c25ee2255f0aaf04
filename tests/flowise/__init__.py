"""Tests against a real Flowise, which `make test-flowise` installs and starts; `make test` leaves them out."""
