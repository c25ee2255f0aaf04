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
};
