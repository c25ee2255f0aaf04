"""Triggers that poll: each kind says what is new since a cursor; one frame starts the runs and moves the cursor."""
