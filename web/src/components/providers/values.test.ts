import { describe, expect, it } from "vitest";
import { inOrder, type Provider, type ProviderSetting, providerName, takesKey, toWrite, wrongValue } from "./values";

const key: ProviderSetting = { variable: "A_KEY", kind: "key", required: true, default: null, is_set: false };
const address: ProviderSetting = {
  variable: "A_URL",
  kind: "address",
  required: false,
  default: "http://x",
  is_set: false,
};

describe("values of a provider", () => {
  it("misses a required one, unless it is kept already", () => {
    expect(wrongValue(key, "  ")).toBe("missing");
    expect(wrongValue({ ...key, is_set: true }, "")).toBeNull();
    expect(wrongValue(address, "")).toBeNull();
  });
  it("takes no address that is none", () => {
    expect(wrongValue(address, "localhost:8000")).toBe("address");
    expect(wrongValue(address, "http://localhost:8000/v1")).toBeNull();
  });
  it("writes what was typed, the key as a secret", () => {
    expect(toWrite([key, address], { A_KEY: " k ", A_URL: "" })).toEqual([
      { name: "A_KEY", body: { value: "k", secret: true, hosts: [] } },
    ]);
  });
  it("shows ready ones first", () => {
    const one = (id: string, configured: boolean, installed: boolean) => ({ id, configured, installed }) as Provider;
    const found = inOrder([one("c", false, false), one("b", false, true), one("a", true, true)]);
    expect(found.map(({ id }) => id)).toEqual(["a", "b", "c"]);
  });
  it("knows which take the key of an account", () => {
    const of = (...settings: ProviderSetting[]) => takesKey({ settings } as unknown as Provider);
    expect(of(key, address)).toBe(true);
    expect(of({ ...key, required: false }, address)).toBe(false);
    expect(of()).toBe(false);
  });
  it("says what is no brand in the language of the page", () => {
    const name = (id: string) => providerName((text) => text, { id, label: "As served" } as Provider);
    expect([name("local"), name("openai_compatible"), name("groq")]).toEqual([
      "name_local",
      "name_openai_compatible",
      "As served",
    ]);
  });
});
