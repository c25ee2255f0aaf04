export function AssistantDock() {
  return null;
}
