"""Static analysis of custom code: findings with their lines, and requested access."""
