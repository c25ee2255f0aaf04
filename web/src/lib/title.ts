import { useEffect } from "react";

/** What the browser's tab and a screen reader call the page, while the component is there. */
export function useTitle(title: string): void {
  useEffect(() => {
    if (!title) return;
    document.title = `${title} · Headgate`;
    return () => {
      document.title = "Headgate";
    };
  }, [title]);
}
