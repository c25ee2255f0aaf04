export function StepCards() {
  return null;
}
