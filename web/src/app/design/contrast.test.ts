import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { contrast, linearRgb, PAIRS } from "./contrast";

const css = readFileSync("src/styles/tokens.css", "utf8");

function tokensOf(theme: "light" | "dark"): Record<string, string> {
  const block = css.slice(css.indexOf(`[data-theme="${theme}"]`));
  const body = block.slice(block.indexOf("{"), block.indexOf("}"));
  return Object.fromEntries(
    [...body.matchAll(/--([\w-]+):\s*(oklch\([^)]*\))/g)].map(([, name, value]) => [name, value]),
  );
}

describe("contrast", () => {
  it("counts as WCAG does", () => {
    expect(contrast("oklch(1 0 0)", "oklch(0 0 0)")).toBeCloseTo(21, 1);
    expect(contrast("oklch(0.5 0 0)", "oklch(0.5 0 0)")).toBe(1);
    expect(contrast("oklch(100% 0 0)", "oklch(0% 0 0)")).toBeCloseTo(21, 1);
    expect(contrast("red", "oklch(0 0 0)")).toBe(0);
    const { r, g, b } = linearRgb("oklch(0.6279 0.2577 29.23)") ?? { r: 0, g: 1, b: 1 };
    expect([r, g, b].map((part) => Math.round(part * 100) / 100)).toEqual([1, 0, 0]);
  });

  it.each(["light", "dark"] as const)("is enough for every text on every ground where it is %s", (theme) => {
    const tokens = tokensOf(theme);
    const poor = PAIRS.map(({ text, ground, least }) => ({
      pair: `${text} on ${ground}`,
      is: Math.round(contrast(tokens[text] ?? "", tokens[ground] ?? "") * 100) / 100,
      least,
    })).filter(({ is, least }) => is < least);
    expect(poor).toEqual([]);
  });

  it("knows the same colours in light and in dark", () => {
    expect(Object.keys(tokensOf("light")).sort()).toEqual(Object.keys(tokensOf("dark")).sort());
  });
});
