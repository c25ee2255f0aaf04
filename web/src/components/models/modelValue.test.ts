import { describe, expect, it } from "vitest";
import { fallbacksOf, withFallbacks, withKey } from "./modelValue";

describe("fallback models of a model", () => {
  it("make an object of a name, and a name of it again when the last is removed", () => {
    const value = withFallbacks("openai/one", ["vllm/two"]);
    expect(value).toEqual({ provider: "openai", name: "one", fallback: ["vllm/two"] });
    expect(fallbacksOf(value)).toEqual(["vllm/two"]);
    expect(withFallbacks(value, [])).toBe("openai/one");
  });

  it("stay when the key is changed, and parameters stay when they are", () => {
    const value = withFallbacks({ provider: "openai", name: "one", params: { seed: 1 } }, ["vllm/two"]);
    expect(fallbacksOf(withKey(value, "MY_KEY"))).toEqual(["vllm/two"]);
    expect(withFallbacks(value, [])).toEqual({ provider: "openai", name: "one", params: { seed: 1 } });
  });

  it("are none without a model", () => {
    expect(fallbacksOf("openai/one")).toEqual([]);
    expect(withFallbacks(undefined, ["vllm/two"])).toBeNull();
  });
});
