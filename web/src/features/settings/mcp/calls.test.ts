import { describe, expect, it } from "vitest";
import { readCommand } from "./calls";

describe("a command", () => {
  it("is words, quoted ones together", () => {
    expect(readCommand(`npx -y "a server" 'x y' z`)).toEqual(["npx", "-y", "a server", "x y", "z"]);
  });
});
