import { describe, expect, it } from "vitest";
import type { FormField } from "@/api/types";
import { asksForFiles, asksForText, EMPTY, faults, runStart, valuesOf } from "./form";

const field = (id: string, type: FormField["type"], more: Partial<FormField> = {}): FormField => ({
  id,
  label: "",
  type,
  required: false,
  private: false,
  options: [],
  ...more,
});
const FORM = [
  field("name", "text", { required: true }),
  field("sum", "number"),
  field("kind", "select", { options: ["a", "b"] }),
  field("photo", "image"),
];

describe("a form's values", () => {
  it("become what starts a run, in the types of the form", () => {
    const values = {
      text: "",
      answers: { name: " Eva ", sum: "1 200,5", kind: "" },
      files: { photo: ["f1"] },
      loose: [],
    };
    expect(runStart(FORM, values).form_data).toEqual({ name: "Eva", sum: 1200.5, photo: "f1" });
    expect(runStart(FORM, { ...values, files: { photo: ["f1", "f2"] } }).form_data).toMatchObject({
      photo: ["f1", "f2"],
    });
  });

  it("say what is missing and what is no number", () => {
    expect(faults(FORM, { ...EMPTY, answers: { sum: "x" } })).toEqual({
      name: { reason: "required" },
      sum: { reason: "number" },
    });
    expect(faults(FORM, { ...EMPTY, answers: { name: "Eva", sum: "-3" } })).toEqual({});
  });

  it("are taken from a past run, without what the form no longer asks", () => {
    const given = {
      text: "hi",
      form_data: { name: "Eva", sum: 3, kind: "gone", old: "x", photo: "f1" },
      file_ids: ["f1", "f2"],
    };
    expect(valuesOf(FORM, given)).toEqual({
      text: "hi",
      answers: { name: "Eva", sum: "3" },
      files: { photo: ["f1"] },
      loose: ["f2"],
    });
  });
});

describe("the text of a run", () => {
  const node = (type: string, params = {}, policy = {}) => ({ type, params, policy });

  it("is asked for where a step without a form reads it", () => {
    expect(asksForText([], [node("ChatInput")])).toBe(true);
    expect(asksForText([], [node("PromptTemplate", { template: "Hello {{flow_input.text}}" })])).toBe(true);
    expect(asksForText([], [node("AIStep", {}, { input_source: "flow_input" })])).toBe(true);
  });

  it("is not asked for where nothing reads it, or a form asks", () => {
    expect(asksForText([], [node("InstalledPackages"), node("SaveFile")])).toBe(false);
    expect(asksForText(FORM, [node("TextInput")])).toBe(false);
  });
});

describe("files beside the form", () => {
  it("are asked for where a step reads the first file of the run, and no field asks for one", () => {
    expect(asksForFiles([], [{ type: "FileInput", params: {} }])).toBe(true);
    expect(asksForFiles([field("photo", "image")], [{ type: "FileInput", params: {} }])).toBe(false);
    expect(asksForFiles([], [{ type: "FileInput", params: { field: "photo" } }])).toBe(false);
    expect(asksForFiles([], [{ type: "TextInput", params: {} }])).toBe(false);
  });
});

it("sends data as JSON, and as text where it is none", () => {
  const form = [field("rows", "json")];
  const start = (rows: string) => runStart(form, { text: "", answers: { rows }, files: {}, loose: [] }).form_data;
  expect(start('[{"a": 1}]')).toEqual({ rows: [{ a: 1 }] });
  expect(start("plain words")).toEqual({ rows: "plain words" });
  expect(valuesOf(form, { text: "", form_data: { rows: [1] }, file_ids: [] }).answers).toEqual({ rows: "[\n  1\n]" });
});
