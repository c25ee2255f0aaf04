import { describe, expect, it } from "vitest";
import { modelKey, modelName, withKey, withModel } from "./modelValue";

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

describe("the key of a model", () => {
  it("is a reference beside the name, and goes with it", () => {
    const own = withKey("openai/gpt-5.4", "TEAM_KEY");
    expect(own).toEqual({ provider: "openai", name: "gpt-5.4", api_key: { secret: "TEAM_KEY" } });
    expect(modelKey(own)).toBe("TEAM_KEY");
    expect(withModel(own, { provider: "groq", name: "x" })).toMatchObject({ api_key: { secret: "TEAM_KEY" } });
    expect(withKey(own, "")).toBe("openai/gpt-5.4");
  });

  it("leaves what else was set", () => {
    const value = { provider: "openai", name: "x", params: { temperature: 0 }, api_key: { secret: "A" } };
    expect(withKey(value, "")).toEqual({ provider: "openai", name: "x", params: { temperature: 0 } });
  });
});
