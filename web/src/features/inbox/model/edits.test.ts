import { describe, expect, it } from "vitest";
import { isFaulty, mayEdit, membersOf, realEdits } from "./edits";

describe("edits of a value", () => {
  it("are of a text as a whole, or of members of an object", () => {
    expect(membersOf("Hello")).toEqual({ "*": "Hello" });
    expect(membersOf({ a: 1 })).toEqual({ a: 1 });
    expect(membersOf([1, 2])).toEqual({});
  });

  it("are allowed for the named members, or for all of them, but not for lists and objects", () => {
    expect(mayEdit("a", 1, ["a"])).toBe(true);
    expect(mayEdit("b", 1, ["a"])).toBe(false);
    expect(mayEdit("b", null, ["*"])).toBe(true);
    expect(mayEdit("b", [1], ["*"])).toBe(false);
  });

  it("count only where they change something", () => {
    expect(realEdits({ a: 1, b: "x", c: null }, { a: "1", b: "y", c: "" })).toEqual({ b: "y" });
    expect(realEdits("Hello", { "*": "Hello" })).toEqual({});
  });

  it("keep numbers numbers, as the server reads them", () => {
    for (const text of ["12", "-0.5", "1e3"]) expect(isFaulty(1, text)).toBe(false);
    for (const text of ["", "12,5", "012", "1_000", "many", " 1"]) expect(isFaulty(1, text)).toBe(true);
    expect(isFaulty("1", "many")).toBe(false);
  });
});
