import { describe, expect, it } from "vitest";
import { isOfBrowser, pressed, takenBy } from "./pressed";

const event = (key: string, more = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  altKey: false,
  ...more,
});

describe("pressed keys", () => {
  it("are told in the words of the list", () => {
    expect(pressed(event("K", { ctrlKey: true, shiftKey: true }))).toBe("$mod+Shift+k");
    expect(pressed(event("F2"))).toBe("F2");
    expect(pressed(event("j", { metaKey: true }))).toBe("$mod+j");
  });
  it("are none while only a modifier is down", () => {
    expect(pressed(event("Shift", { shiftKey: true }))).toBeNull();
    expect(pressed(event("Tab"))).toBeNull();
  });
  it("may be another shortcut's", () => {
    expect(takenBy("$mod+z", "redo", {})).toBe("undo");
    expect(takenBy("$mod+z", "undo", {})).toBeUndefined();
    expect(takenBy("$mod+y", "undo", { redo: "$mod+y" })).toBe("redo");
    expect(takenBy("$mod+z", "redo", { undo: "$mod+u" })).toBeUndefined();
  });
  it("may be the browser's", () => {
    expect(isOfBrowser("$mod+w")).toBe(true);
    expect(isOfBrowser("$mod+k")).toBe(false);
  });
});
