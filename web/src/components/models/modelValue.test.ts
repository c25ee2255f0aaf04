import { describe, expect, it } from "vitest";
import { modelName, withModel } from "./modelValue";

describe("a model as a flow names it", () => {
  it("is a provider and a name, in text or in an object", () => {
    expect(modelName("openai/gpt-5.4")).toEqual({ provider: "openai", name: "gpt-5.4" });
    expect(modelName("openrouter/meta/llama")).toEqual({ provider: "openrouter", name: "meta/llama" });
    expect(modelName({ provider: "ollama", name: "qwen", params: {} })).toEqual({ provider: "ollama", name: "qwen" });
  });

  it("is not known where it is a reference, or no model", () => {
    for (const value of ["{{a.b}}/x", "gpt", "", null, undefined, ["a/b"], { name: "x" }]) {
      expect(modelName(value)).toBeNull();
    }
  });

  it("keeps what was set beside it when another is chosen", () => {
    const chosen = { provider: "openai", name: "gpt-5.4" };
    expect(withModel("a/b", chosen)).toBe("openai/gpt-5.4");
    expect(withModel({ provider: "a", name: "b", params: { top_p: 0.5 } }, chosen)).toEqual({
      ...chosen,
      params: { top_p: 0.5 },
    });
  });
});
