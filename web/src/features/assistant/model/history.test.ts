import { describe, expect, it } from "vitest";
import { emptyHistory, newer, older, onFirstLine, onLastLine, pushed } from "./history";

describe("input history", () => {
  it("Input history — Up arrow recalls latest input", () => {
    expect(older(emptyHistory(["latest", "older", "oldest"]), "")?.text).toBe("latest");
    expect(older(emptyHistory(), "typed")).toBeNull();
  });

  it("Input history — successive Up walks older", () => {
    let history = emptyHistory(["a", "b", "c"]);
    const seen: string[] = [];
    for (let times = 0; times < 4; times += 1) {
      const found = older(history, "");
      history = found?.history ?? history;
      seen.push(found?.text ?? "");
    }
    expect(seen).toEqual(["a", "b", "c", "c"]);
  });

  it("Input history — Down restores draft", () => {
    const up = older(emptyHistory(["newest"]), "my draft");
    const down = up && newer(up.history);
    expect(down?.text).toBe("my draft");
    expect(down && newer(down.history)).toBeNull();
  });

  it("Input history — gated by cursor position on multiline", () => {
    const text = "line one\nline two";
    expect(onFirstLine(text, text.length, text.length)).toBe(false);
    expect(onFirstLine(text, 3, 3)).toBe(true);
    expect(onLastLine(text, 3, 3)).toBe(false);
    expect(onLastLine(text, text.length, text.length)).toBe(true);
    expect(onFirstLine(text, 0, 3)).toBe(false);
  });

  it("Input history — pushed on send, dedup against latest", () => {
    const twice = pushed(pushed(emptyHistory(), "hello"), "hello");
    expect(twice.entries).toEqual(["hello"]);
    expect(pushed(pushed(twice, "world"), "hello").entries).toEqual(["hello", "world", "hello"]);
  });
});
