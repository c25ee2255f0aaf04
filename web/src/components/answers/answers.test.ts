import { describe, expect, it } from "vitest";
import type { FormField } from "@/api/types";
import { answerOf, answersOf, faultOf, givenOf } from "./answers";

const field = (type: FormField["type"], more: Partial<FormField> = {}): FormField => ({ id: "a", type, ...more });
const KINDS = field("multiselect", { options: ["x", "y"], min: 1, max: 1 });

describe("an answer to a form field", () => {
  it("has the type of its field", () => {
    expect(answerOf(field("number"), " 1 200,5 ")).toBe(1200.5);
    expect(answerOf(field("checkbox"), undefined)).toBe(false);
    expect(answerOf(field("checkbox"), "true")).toBe(true);
    expect(answerOf(KINDS, ["y"])).toEqual(["y"]);
    expect(answerOf(field("json"), '{"n": 1}')).toEqual({ n: 1 });
    expect(answerOf(field("long_text"), "  ")).toBeNull();
    expect(answersOf([field("text"), { ...KINDS, id: "__proto__" }], { a: "b" })).toEqual({ a: "b" });
  });

  it("has a fault that says what is wrong with it", () => {
    expect(faultOf(field("text", { required: true }), " ")).toEqual({ reason: "required" });
    expect(faultOf(field("checkbox", { required: true }), "false")).toEqual({ reason: "checked" });
    expect(faultOf(field("number"), "many")).toEqual({ reason: "number" });
    expect(faultOf(field("number", { min: 2 }), "1")).toEqual({ reason: "min_number", bound: 2 });
    expect(faultOf(field("text", { max: 2 }), "🙂🙂🙂")).toEqual({ reason: "max_text", bound: 2 });
    expect(faultOf(KINDS, ["x", "y"])).toEqual({ reason: "max_choices", bound: 1 });
    expect(faultOf(KINDS, [])).toBeNull();
    expect(faultOf(field("number", { min: 2, max: 2 }), "2")).toBeNull();
  });

  it("is filled in as it was given, where the field still takes it", () => {
    expect(givenOf(KINDS, ["gone", "y"])).toEqual(["y"]);
    expect(givenOf(field("select", { options: ["x"] }), "gone")).toBeUndefined();
    expect(givenOf(field("checkbox"), true)).toBe("true");
  });
});
