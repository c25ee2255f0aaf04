export default {
  started_runs: "Runs",
  started_by: "Started by a step of another run: {{step}}, number {{number}}.",
  runs_all: "All",
  runs_number: "Number {{number}}",
  no_such_runs: "No such runs.",
};
