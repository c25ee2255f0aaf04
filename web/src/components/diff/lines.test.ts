import { describe, expect, it } from "vitest";
import { folded, lineDiff } from "./lines";

const shown = (before: string, after: string) => lineDiff(before, after).map((line) => `${line.kind}:${line.text}`);

describe("a difference by line", () => {
  it("says what went, what came and what stayed", () => {
    expect(shown("a\nb\nc", "a\nx\nc")).toEqual(["same:a", "removed:b", "added:x", "same:c"]);
  });

  it("does not take a missing last line end for a change", () => {
    expect(shown("a\nb", "a\nb\n")).toEqual(["same:a", "same:b"]);
  });

  it("numbers lines on both sides", () => {
    expect(lineDiff("a\nb", "b\nc").map(({ before, after }) => [before, after])).toEqual([
      [1, null],
      [2, 1],
      [null, 2],
    ]);
  });

  it("takes nothing at all and long texts of nothing in common", () => {
    expect(lineDiff("", "")).toEqual([]);
    const long = (word: string) => Array.from({ length: 6000 }, (_, row) => `${word}${row}`).join("\n");
    expect(lineDiff(long("a"), long("b"))).toHaveLength(12_000);
  });

  it("folds what is far from a change", () => {
    const text = Array.from({ length: 30 }, (_, row) => `${row}`).join("\n");
    const found = folded(lineDiff(text, text.replace("15", "fifteen")));
    expect(found.map((one) => one.kind)).toEqual([
      "fold",
      "same",
      "same",
      "same",
      "removed",
      "added",
      "same",
      "same",
      "same",
      "fold",
    ]);
    expect(found[0]).toMatchObject({ lines: { length: 12 } });
  });
});
