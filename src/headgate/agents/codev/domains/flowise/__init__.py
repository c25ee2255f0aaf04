"""The Flowise platform."""
