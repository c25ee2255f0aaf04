import "@testing-library/jest-dom/vitest";
import { cleanup, configure } from "@testing-library/react";
import { afterAll, afterEach, beforeAll, vi } from "vitest";
import { pageMetrics } from "@/lib/pageMetrics";
import { forgetStored } from "@/lib/storage";
import { server } from "./server";

// jsdom draws nothing: what asks how large something is gets an answer.
globalThis.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};
globalThis.matchMedia ??= ((query: string) => ({
  matches: false,
  media: query,
  addEventListener: () => undefined,
  removeEventListener: () => undefined,
})) as unknown as typeof matchMedia;
Element.prototype.scrollIntoView ??= () => undefined;
window.scrollTo = () => undefined;
Element.prototype.scrollTo = () => undefined;
Element.prototype.hasPointerCapture ??= () => false;

const BUSY_MS = 10_000; // a busy machine is no failure
configure({ asyncUtilTimeout: BUSY_MS });
const waitFor = vi.waitFor;
vi.waitFor = (check, options) =>
  waitFor(check, typeof options === "number" ? options : { timeout: BUSY_MS, ...options });
beforeAll(() => server.listen({ onUnhandledFrame: "error", onUnhandledRequest: "error" } as never));
afterEach(() => {
  // What a test counted goes nowhere, also when its time comes.
  pageMetrics.to(() => undefined);
  pageMetrics.send();
  server.resetHandlers();
  cleanup();
});
// Files share what they load: each leaves nothing behind for the next.
afterAll(async () => {
  server.close();
  vi.useRealTimers();
  await vi.dynamicImportSettled(); // such as texts of another language that a test asked for at its end
  forgetStored("");
  localStorage.clear();
  sessionStorage.clear();
  document.body.replaceChildren();
});
