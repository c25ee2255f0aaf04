import { describe, expect, it } from "vitest";
import type { Template } from "@/api/types";
import { fieldName } from "./fieldName";

const template = { fields: [{ name: "text", label: "The text" }] } as unknown as Template;

describe("the name of a field that changed", () => {
  it("is the component's label, a word of ours, or what is there", () => {
    expect(fieldName("params.text", template).name).toBe("The text");
    expect(fieldName("params.case.1", template).name).toBe("case.1");
    expect(fieldName("policy.input_config.url", undefined).key).toBe("field_input_config");
    expect(fieldName("settings.icon", undefined)).toEqual({ key: null, name: "icon" });
    expect(fieldName("code", undefined).key).toBe("code");
  });
});
