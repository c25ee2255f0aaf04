import "@testing-library/jest-dom/vitest";
import { cleanup } from "@testing-library/react";
import { afterAll, afterEach, beforeAll } from "vitest";
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
Element.prototype.hasPointerCapture ??= () => false;

beforeAll(() => server.listen({ onUnhandledFrame: "error", onUnhandledRequest: "error" } as never));
afterEach(() => {
  server.resetHandlers();
  cleanup();
});
afterAll(() => server.close());
