import { describe, expect, it } from "vitest";
import { boundOf, fieldId, isFieldId, moved, withType } from "./formFields";

describe("a form field", () => {
  it("is named after its question, in any script, and after no other field", () => {
    expect(fieldId("  Your name? ", [])).toBe("your_name");
    expect(fieldId("Handläggare", ["handläggare"])).toBe("handläggare_2");
    expect(fieldId("2 kinds", [])).toBe("field_2_kinds");
    expect(fieldId("??", ["field"])).toBe("field_2");
    expect(["handläggare", "a1", "_x"].every(isFieldId)).toBe(true);
    expect(["1a", "a b", "a.b", "", "a-b"].some(isFieldId)).toBe(false);
  });

  it("has choices exactly when it is a choice", () => {
    const field = { id: "a", type: "text" as const };
    const choice = withType(field, "select", "First");
    expect(choice.options).toEqual(["First"]);
    expect(withType({ ...choice, options: ["x"] }, "select", "First").options).toEqual(["x"]);
    expect(withType(choice, "number", "First").options).toEqual([]);
  });

  it("keeps bounds where the new type has them", () => {
    const bounded = { id: "a", type: "number" as const, min: 1, max: 3 };
    expect(withType(bounded, "text", "First")).toMatchObject({ min: 1, max: 3 });
    expect(withType(bounded, "date", "First")).not.toHaveProperty("min");
    expect(["", "2,5", "-1", "x"].map((text) => boundOf(text, "number"))).toEqual([null, 2.5, -1, undefined]);
    expect(["2,5", "-1", "4"].map((text) => boundOf(text, "text"))).toEqual([undefined, undefined, 4]);
  });

  it("moves within bounds", () => {
    expect(moved(["a", "b", "c"], 0, 2)).toEqual(["b", "c", "a"]);
    expect(moved(["a", "b"], 0, -1)).toEqual(["a", "b"]);
    expect(moved(["a", "b"], 1, 9)).toEqual(["a", "b"]);
  });
});
