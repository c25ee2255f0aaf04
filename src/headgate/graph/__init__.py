"""The pure flow language. No I/O, no framework; every function takes values and gives values.

| module                                | what it answers                                                           |
|---------------------------------------|---------------------------------------------------------------------------|
| `model`, `ports`, `template`          | what a flow, a port type and a component are                              |
| `wiring`, `plan`                      | what is a step, what configures one, and in which order steps run         |
| `validate`, `issues`, `names`         | may it be saved, may it run; faults with the nearest valid name           |
| `interpolate`, `mentions`, `context`  | `{{step.output}}`: finding, renaming and resolving it                     |
| `contracts`, `json_schema`            | does a value keep a promise, does one promise satisfy another             |
| `spec`                                | a flow as text and back                                                   |
| `edits`, `changes`, `merge`           | a changed flow, and what changed, to show, send, replay or undo           |
| `diff`, `value_changes`               | what is different between two flows                                       |
| `canonical`, `execution_hash`         | checksums, and whether a finished step may be kept                        |
| `layout`, `layering`, `geometry`      | where nodes stand on the canvas                                           |
| `flow_io`, `draw`                     | what goes in and comes out; the flow as a drawing in a terminal           |
"""
