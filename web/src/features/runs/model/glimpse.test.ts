import { expect, it } from "vitest";
import { glimpse } from "./glimpse";

const done = (preview: string) => glimpse({ status: "completed", preview });

it("is one line of words, without the marks of a table or of emphasis", () => {
  expect(done("# Prices\n\n| item | net_price |\n|:--- | ---:|\n| Tea | **4** |")).toBe("Prices item net_price Tea 4");
  expect(done("_Hello_ -- and `code`\n\n---\nend")).toBe("Hello -- and code end");
});

it("shows nothing of data, and marks what it cuts", () => {
  expect(done('{"a": 1}')).toBe("");
  expect(done("a".repeat(161))).toBe(`${"a".repeat(159)}…`);
  expect(glimpse({ status: "running", preview: `first ${"b".repeat(200)}` })).toBe(`…${"b".repeat(159)}`);
});
