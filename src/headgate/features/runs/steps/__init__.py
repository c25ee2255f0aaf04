"""Steps: planning, inputs, execution, evidence."""
