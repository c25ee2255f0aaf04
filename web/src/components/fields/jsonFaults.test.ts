import { describe, expect, it } from "vitest";
import { readJson, schemaFaults } from "./jsonFaults";

describe("a JSON text", () => {
  it("is read", () => expect(readJson('{"a": [1]}')).toEqual({ ok: true, value: { a: [1] } }));

  it.each([
    ['{\n  "a": 1\n  "b": 2\n}', 3],
    ['{\n  "a": [1, 2,]\n}', 2],
    ['{\n  "a": 1', 2],
  ])("that is none tells its line", (text, line) => expect(readJson(text)).toEqual({ ok: false, line }));
});

describe("a value against a schema", () => {
  const schema = {
    type: "object",
    properties: {
      n: { type: "integer" },
      kind: { enum: ["a", "b"] },
      list: { type: "array", items: { type: "string" } },
    },
    required: ["n"],
  };

  it("keeps it", () => expect(schemaFaults({ n: 1, kind: "a", list: ["x"], more: true }, schema)).toEqual([]));

  it("breaks it where it does", () => {
    expect(schemaFaults({ kind: "c", list: ["x", 2] }, schema)).toEqual([
      { kind: "missing", path: "n" },
      { kind: "choice", path: "kind", choices: ['"a"', '"b"'] },
      { kind: "type", path: "list[1]", wanted: ["string"] },
    ]);
    expect(schemaFaults([], schema)).toEqual([{ kind: "type", path: "", wanted: ["object"] }]);
    expect(schemaFaults({ n: 1.5 }, schema)).toEqual([{ kind: "type", path: "n", wanted: ["integer"] }]);
  });
});
