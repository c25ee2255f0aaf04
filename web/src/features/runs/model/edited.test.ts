import { expect, test } from "vitest";
import { asWritten, editedOutputs, readWritten } from "./edited";

const texts = new Set(["text"]);

test("a text is edited as it is, everything else as JSON", () => {
  expect(asWritten('"Hello"', true)).toBe('"Hello"');
  expect(asWritten('"Hello"', false)).toBe('"\\"Hello\\""');
  expect(asWritten([{ a: 1 }], false)).toBe('[\n  {\n    "a": 1\n  }\n]');
});

test("outputs that were edited are what was written", () => {
  expect(editedOutputs({ text: '"Hello"', rows: "42" }, texts)).toEqual({ text: '"Hello"', rows: 42 });
  expect(editedOutputs({ text: "", rows: "null" }, texts)).toEqual({ text: "", rows: null });
});

test("nothing is pinned while one is not JSON", () => {
  expect(readWritten('{\n  "a": }', false)).toEqual({ ok: false, line: 2 });
  expect(editedOutputs({ text: "x", rows: "[{" }, texts)).toBeNull();
});
