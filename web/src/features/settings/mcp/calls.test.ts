import { describe, expect, it } from "vitest";
import { readCommand, readPairs } from "./calls";

describe("headers", () => {
  it("are a line each", () => {
    expect(readPairs("Authorization: Bearer API_KEY\n\n X-Team : a:b")).toEqual({
      Authorization: "Bearer API_KEY",
      "X-Team": "a:b",
    });
    expect(readPairs("")).toEqual({});
    expect(readPairs("nonsense")).toBeNull();
    expect(readPairs("Name:")).toBeNull();
  });
});

describe("a command", () => {
  it("is words, quoted ones together", () => {
    expect(readCommand(`npx -y "a server" 'x y' z`)).toEqual(["npx", "-y", "a server", "x y", "z"]);
  });
});
