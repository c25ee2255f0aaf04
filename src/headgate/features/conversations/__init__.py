"""The last turns of users' conversations with the assistant, stored in the database."""
