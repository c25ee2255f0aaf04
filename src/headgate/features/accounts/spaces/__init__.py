"""Rooms of a tenant in which flows live, and who may do what in each."""
