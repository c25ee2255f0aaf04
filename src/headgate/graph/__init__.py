"""The pure flow language. No I/O, no framework; functions take values and return values.

| module                                | contents                                                                  |
|---------------------------------------|---------------------------------------------------------------------------|
| `model`, `ports`, `template`          | flows, port types and components                                          |
| `wiring`, `plan`                      | steps, configuration nodes, and the execution order                       |
| `validate`, `issues`, `names`         | whether it can be saved and run; faults with the nearest valid name       |
| `interpolate`, `mentions`, `context`  | `{{step.output}}`: finding, renaming and resolving it                     |
| `contracts`, `json_schema`            | whether a value satisfies a contract, or one contract another             |
| `spec`                                | a flow as text and back                                                   |
| `edits`, `changes`, `merge`           | a changed flow and its changes, to show, send, replay or undo             |
| `diff`, `value_changes`               | the differences between two flows                                         |
| `canonical`, `execution_hash`         | checksums, and whether a finished step can be reused                      |
| `layout`, `layering`, `geometry`      | positions of nodes on the canvas                                          |
| `flow_io`, `draw`                     | inputs and outputs; the flow as a drawing in a terminal                   |
"""
