import { useRouterState } from "@tanstack/react-router";

/** A line at the top while a page is on its way; what comes at once shows none. */
export function LoadingBar() {
  const loading = useRouterState({ select: (state) => state.status === "pending" });
  if (!loading) return null;
  return (
    <div aria-hidden className="pointer-events-none fixed inset-x-0 top-0 z-50 h-0.5 overflow-hidden">
      <div className="h-full origin-left animate-arrive bg-accent" />
    </div>
  );
}
