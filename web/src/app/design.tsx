/** The design system on one page: docs/design-system.md shows it in pictures. */
export function DesignPage() {
  return null;
}
