import { describe, expect, it } from "vitest";
import { fieldId, isFieldId, moved, withType } from "./formFields";

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

  it("moves within bounds", () => {
    expect(moved(["a", "b", "c"], 0, 2)).toEqual(["b", "c", "a"]);
    expect(moved(["a", "b"], 0, -1)).toEqual(["a", "b"]);
    expect(moved(["a", "b"], 1, 9)).toEqual(["a", "b"]);
  });
});
