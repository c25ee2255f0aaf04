import { describe, expect, it } from "vitest";
import { fuzzyScore } from "./fuzzy";

describe("finding by what was typed", () => {
  it("takes words in any order, and words of the keywords", () => {
    expect(fuzzyScore("keys api", "API keys")).toBeGreaterThan(0);
    expect(fuzzyScore("approve", "Inbox", "approvals approve")).toBeGreaterThan(0);
    expect(fuzzyScore("keys zebra", "API keys")).toBe(0);
  });
  it("forgives letters that are left out", () => {
    expect(fuzzyScore("tmplts", "Templates")).toBeGreaterThan(0);
    expect(fuzzyScore("autolay", "Auto layout")).toBeGreaterThan(0);
  });
  it("finds other forms of a word", () => {
    expect(fuzzyScore("variabel", "Variabler")).toBeGreaterThan(0);
    expect(fuzzyScore("nyckel", "API-nycklar")).toBeGreaterThan(0);
    expect(fuzzyScore("library", "Libraries")).toBeGreaterThan(0);
    expect(fuzzyScore("publicera", "Publik chatt")).toBe(0);
  });
  it("does not take letters from all over a text", () => {
    expect(fuzzyScore("thn", "This node is hidden in the group")).toBe(0);
    expect(fuzzyScore("xyz", "Templates")).toBe(0);
  });
  it("prefers beginnings, then words, then parts, then letters, then keywords", () => {
    const scores = [
      fuzzyScore("run", "Runs"),
      fuzzyScore("run", "All runs"),
      fuzzyScore("run", "Prerun"),
      fuzzyScore("run", "Return"),
      fuzzyScore("run", "Start", "dry run"),
    ];
    expect(scores[0]).toBeGreaterThan(scores[1] ?? 1);
    expect(scores[1]).toBeGreaterThan(scores[2] ?? 1);
    expect(scores[2]).toBeGreaterThan(scores[3] ?? 1);
    expect(scores.every((score) => score > 0)).toBe(true);
  });
});
