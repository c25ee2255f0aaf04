import { describe, expect, it } from "vitest";
import { inWords } from "./inWords";

describe("a preview in words", () => {
  it("leaves text as it is", () => expect(inWords(' She said: "no" ')).toBe('She said: "no"'));

  it("has no marks of JSON, whole or cut off", () => {
    expect(inWords('{"claimant":"Ann","amount":3}')).toBe("claimant: Ann, amount: 3");
    expect(inWords('{"columns":["category","total"],"rows":[["a\\nb",3],["c')).toBe(
      "columns: category, total, rows: a b, 3, c",
    );
    expect(inWords("[]")).toBe("");
  });
});
