import { type ComponentType, lazy } from "react";

const LONGEST_MS = 1500;

/** A part that the first picture does without: fetched once the browser has nothing else to do. */
// biome-ignore lint/suspicious/noExplicitAny: the properties of any component, as `lazy` has them
export function later<T extends ComponentType<any>>(load: () => Promise<{ default: T }>) {
  return lazy(async () => {
    await idle();
    return load();
  });
}

function idle(): Promise<void> {
  return new Promise((done) => {
    if ("requestIdleCallback" in window) requestIdleCallback(() => done(), { timeout: LONGEST_MS });
    else setTimeout(done, 200);
  });
}
