import { describe, expect, it } from "vitest";
import { ownPath } from "./ownPath";

describe("ownPath", () => {
  it.each(["/", "/flows/1?tab=runs#x", "/a//b", "/flows?next=https://x.example"])("leaves %s", (path) => {
    expect(ownPath(path)).toBe(path);
  });
  it.each([
    "",
    "docs",
    "//evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\tevil",
    "/\n/evil.example",
    " //evil.example",
    "https://evil.example",
    "javascript:alert(1)",
    `/${"x".repeat(1000)}`,
  ])("leads nowhere else: %s", (path) => {
    expect(ownPath(path)).toBe("/");
  });
});
