"""Requests to web servers, and the formats of the web."""
