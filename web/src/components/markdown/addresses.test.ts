import { describe, expect, it } from "vitest";
import { safeImage, safeLink } from "./addresses";

const FILE = "/api/v1/files/01a1ffac-76f1-7690-a696-27d0cea7011b/content";

describe("addresses in somebody else's words", () => {
  it("are followed over the web and by mail only", () => {
    expect(safeLink("https://example.com/a?b=c")).toBe("https://example.com/a?b=c");
    expect(safeLink("mailto:a@example.com")).toBe("mailto:a@example.com");
    for (const bad of [
      "javascript:alert(1)",
      " JaVaScRiPt:alert(1)",
      "data:text/html,hi",
      "/api/v1/me",
      "//evil.test",
    ]) {
      expect(safeLink(bad)).toBeNull();
    }
  });

  it("load images of ours and of the text itself only", () => {
    expect(safeImage(FILE)).toBe(FILE);
    expect(safeImage("data:image/png;base64,AAAA")).toBe("data:image/png;base64,AAAA");
    for (const bad of [
      "https://evil.test/pixel.png",
      "data:image/svg+xml;base64,AAAA",
      `${FILE}/../../me`,
      "/api/v1/me",
    ]) {
      expect(safeImage(bad)).toBeNull();
    }
  });
});
