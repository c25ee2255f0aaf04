export default {
  runs_done: "{{completed}} completed",
  runs_done_of: "{{completed}} of {{total}} completed",
  runs_active: "{{active}} active",
  runs_failed: "{{failed}} failed",
  runs_cancelled: "{{cancelled}} cancelled",
};
