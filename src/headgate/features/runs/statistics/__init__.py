"""How runs go over time: how many, how long, what they cost, and what fails."""
