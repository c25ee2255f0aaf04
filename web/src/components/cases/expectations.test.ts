import { describe, expect, it } from "vitest";
import { expectOf, freeName, isSchema, type Kind, lacksPartner, listed } from "./expectations";

const FULL = {
  contains: ["one", "two\nlines"],
  excludes: ["three"],
  equals: "",
  matches: "^a+$",
  json_schema: { type: "object" },
  reference: "27 days",
  documents: ["handbook.md"],
  supported: true,
  criterion: "polite",
  judge_model: "openai/gpt-5-mini",
};

describe("what a case expects", () => {
  it("is the same after it was listed and put together again, lines of a text among it", () => {
    const kept = { ...FULL, equals: "all of it" };
    expect(expectOf(listed(kept))).toEqual(kept);
  });

  it("asks for nothing where nothing was written", () => {
    const rows = listed({ ...FULL, supported: false }).map((row) => ({ ...row, text: "" }));
    expect(expectOf(rows)).toEqual({
      contains: [],
      excludes: [],
      equals: null,
      matches: null,
      json_schema: null,
      reference: null,
      documents: [],
      supported: false,
      criterion: null,
      judge_model: "",
    });
  });

  it("needs a judge for a criterion, and something to judge by for a judge", () => {
    const row = (key: number, kind: Kind) => ({ key, kind, text: "x" });
    expect(lacksPartner(row(0, "criterion"), [row(0, "criterion")])).toBe(true);
    expect(lacksPartner(row(0, "judge_model"), [row(0, "judge_model")])).toBe(true);
    const both = [row(0, "criterion"), row(1, "judge_model")];
    expect(both.some((one) => lacksPartner(one, both))).toBe(false);
  });

  it("is refused where the schema is no JSON object", () => {
    expect(isSchema('{"type": "object"}')).toBe(true);
    for (const text of ["{", "[]", "null", "3"]) expect(isSchema(text)).toBe(false);
    expect(() => expectOf([{ key: 0, kind: "json_schema", text: "[]" }])).toThrow(SyntaxError);
  });
});

describe("a name for a new case", () => {
  it("is one that is free", () => {
    expect(freeName("Test", [])).toBe("Test");
    expect(freeName("Test", ["Test", "Test 2"])).toBe("Test 3");
  });
});
