import { expect, it } from "vitest";
import { asData, inText } from "./jsonText";

it("reads JSON, and everything else as text", () => {
  expect(asData('{"a": 1}')).toEqual({ a: 1 });
  expect(asData("plain words")).toBe("plain words");
});

it("writes data so that it is read as the same", () => {
  for (const value of [null, 7, "7", "plain words", '{"a": 1}', { a: [1] }, true, ""]) {
    expect(asData(inText(value))).toEqual(value);
  }
});
