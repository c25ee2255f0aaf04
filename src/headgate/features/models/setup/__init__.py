"""User settings of models: servers, facts about models, and roles."""
