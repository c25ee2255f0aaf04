"""Components that people or the assistant wrote: their code, checked once in the sandbox, known by its content."""
