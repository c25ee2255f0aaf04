export function HomePage() {
  return null;
}
export function TemplatesPage() {
  return null;
}
