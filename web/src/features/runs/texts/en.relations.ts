export default {
  failed_step: "“{{name}}” failed",
  open_node: "Open the step",
  fix_with_assistant: "Fix with the assistant",
  fix_request: "The step '{{step}}' failed in the last run: {{error}} Fix it.",
  started_runs: "Runs",
  started_by: "Started by a step of another run: {{step}}, number {{number}}.",
  runs_all: "All",
  runs_number: "Number {{number}}",
  no_such_runs: "No such runs.",
};
