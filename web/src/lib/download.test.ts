import { describe, expect, it } from "vitest";
import { fileNameOf, pngScale } from "./download";

describe("the name of a file", () => {
  it("keeps words of any script and nothing that a system refuses", () => {
    expect(fileNameOf("Ärenden: 2026/11 <b>", "pdf")).toBe("Ärenden-2026-11-b.pdf");
    expect(fileNameOf("../..\\etc", "svg")).toBe("etc.svg");
    expect(fileNameOf(" \u0000 ", "json")).toBe("flow.json");
    expect(fileNameOf("x".repeat(300), "json")).toHaveLength(85);
  });
});

describe("a picture in pixels", () => {
  it("is twice as fine, and never too large to be drawn", () => {
    expect(pngScale(800, 600)).toBe(2);
    expect(pngScale(20_000, 100) * 20_000).toBe(8000);
  });
});
