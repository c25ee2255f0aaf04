"""What users set up about models: their own servers, facts about models, and which model has which role."""
