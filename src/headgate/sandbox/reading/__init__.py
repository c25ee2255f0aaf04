"""What reading own code tells before it runs: faults with their lines, and what it wants to reach."""
