export function RunsPage() {
  return null;
}
export function FlowRunsPage() {
  return null;
}
export function RunPage() {
  return null;
}
export function RunPanel() {
  return null;
}
