export function Editing() {
  return null;
}
export function SaveState() {
  return null;
}
