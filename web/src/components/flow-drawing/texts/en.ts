export default {
  added: "added",
  removed: "removed",
  changed: "changed",
  pending: "not yet run",
  running: "running",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
  skipped: "skipped",
};
