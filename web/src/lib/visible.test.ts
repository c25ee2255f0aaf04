import { describe, expect, it } from "vitest";
import { visible, visibleValue } from "./visible";

describe("visible", () => {
  it("shows characters that reorder, hide or are not seen by their code points", () => {
    expect(visible("pay-\u202egnp.exe")).toBe("pay-[U+202E]gnp.exe");
    expect(visible("a\u0000b\u001b[31m\u200b\u2066\ufeff\u{e0041}")).toBe(
      "a[U+0000]b[U+001B][31m[U+200B][U+2066][U+FEFF][U+E0041]",
    );
  });

  it("leaves line breaks, right-to-left scripts and joined emoji as they are", () => {
    for (const text of ["one\n\ttwo\r\n", "שלום\u200f!", "👩‍👩‍👧", "می\u200cخواهم"]) expect(visible(text)).toBe(text);
  });

  it("reaches names and values of every depth, also hostile names", () => {
    const value = JSON.parse('{"a\\u202e": ["\\u200b", {"__proto__": "\\u2067"}], "n": 1, "none": null}');
    const shown = visibleValue(value);
    expect(JSON.stringify(shown)).toBe('{"a[U+202E]":["[U+200B]",{"__proto__":"[U+2067]"}],"n":1,"none":null}');
    expect(Object.getPrototypeOf(shown)).toBe(Object.prototype);
  });
});
