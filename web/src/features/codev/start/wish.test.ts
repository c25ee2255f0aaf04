import { describe, expect, it } from "vitest";
import { HIDDEN, keepable } from "@/lib/redacted";
import { keepWish, keptWish } from "./wish";

const KEY = "sk-proj-abcdefghijklmnop";

describe("what a browser keeps", () => {
  it("has no keys, wherever they stand", () => {
    expect(keepable([{ name: "greets", text: `Use\n${KEY}`, expect: { contains: [KEY, "hello"] } }])).toEqual([
      { name: "greets", text: `Use\n${HIDDEN}`, expect: { contains: [HIDDEN, "hello"] } },
    ]);
  });

  it("has none of a wish that was not sent", () => {
    keepWish(`A chatbot with ${KEY}`);
    expect(keptWish()).toBe(`A chatbot with ${HIDDEN}`);
    keepWish("");
    expect(keptWish()).toBe("");
  });
});
