export default {
  started_runs: "Runs",
  started_by: "Started by a step of another run: {{step}}, number {{number}}.",
  runs_done: "{{completed}} completed",
  runs_done_of: "{{completed}} of {{total}} completed",
  runs_active: "{{active}} active",
  runs_failed: "{{failed}} failed",
  runs_cancelled: "{{cancelled}} cancelled",
  runs_all: "All",
  runs_number: "Number {{number}}",
  no_such_runs: "No such runs.",
};
