export function Inspector(_: { nodeId: string }) {
  return null;
}
