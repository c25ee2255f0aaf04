import { expect, test } from "vitest";
import { shortened } from "./shortened";

test("a text that fits stays as it is", () => {
  expect(shortened("räv", 3)).toBe("räv");
});

test("a longer one ends with a mark", () => {
  expect(shortened("rävar", 3)).toBe("rä…");
});
