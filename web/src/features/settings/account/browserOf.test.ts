import { expect, it } from "vitest";
import { browserOf } from "./browserOf";

it("names the browser and the system", () => {
  expect(browserOf("Mozilla/5.0 (Windows NT 10.0) Chrome/120.0 Safari/537.36 Edg/120.0")).toBe("Edge · Windows");
  expect(browserOf("Mozilla/5.0 (Macintosh; Intel Mac OS X 14) Version/17 Safari/605")).toBe("Safari · macOS");
  expect(browserOf("curl/8")).toBe("");
});
