export default {
  added: "added",
  removed: "removed",
  changed: "changed",
  pending: "not run yet",
  running: "running",
  waiting: "waiting",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
  skipped: "skipped",
};
