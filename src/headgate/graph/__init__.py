"""The pure flow language: nodes, edges, spec text, edits, layout, merge, contracts, interpolation, hashes. No I/O."""
