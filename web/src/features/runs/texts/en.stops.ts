/** Runs that stop at breakpoints. */
export default {
  stopped: "Stopped at a breakpoint",
  stopped_here: "Stopped before this step",
  stopped_before: "Stopped before {{steps}}",
  to_breakpoint: "Continue",
  to_breakpoint_help: "Run to the next breakpoint",
  next_step: "Next step",
  next_step_help: "Stop again before the next step",
  without_stops: "Continue without stops",
  step_through: "Step through",
  breakpoints_one: "Stops at {{count}} breakpoint",
  breakpoints_other: "Stops at {{count}} breakpoints",
  remove_breakpoints: "Remove all",
  edit_output: "Edit",
  edit_output_help: "Change this output and pin it",
  edit_output_of: "Output of {{name}}",
  edit_output_about:
    "Test runs use the changed output instead of running the step, until you unpin it. A run that is past the step keeps its own.",
  pin_edited: "Pin changed output",
  not_json: "Line {{line}} is not valid JSON.",
};
