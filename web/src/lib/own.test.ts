import { expect, it } from "vitest";
import { own } from "./own";

it("finds nothing under a name that only every object has", () => {
  const record: Record<string, string> = { a: "1" };
  expect(own(record, "a")).toBe("1");
  for (const name of ["constructor", "toString", "valueOf", "__proto__", "hasOwnProperty"])
    expect(own(record, name)).toBeUndefined();
  expect(own(JSON.parse('{"__proto__": "2"}') as Record<string, string>, "__proto__")).toBe("2");
});
