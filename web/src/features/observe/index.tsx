export function ObservePage() {
  return null;
}
