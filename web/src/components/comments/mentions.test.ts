import { describe, expect, it } from "vitest";
import { completed, matching, mentionsIn, typedMention } from "./mentions";

const MEMBERS = [
  { user_id: "1", name: "Ada Lovelace" },
  { user_id: "2", name: "Åsa Ek" },
];

describe("mentions in a comment", () => {
  it("begin with @ after a space", () => {
    expect(typedMention("Hello @lov", 10)).toEqual({ from: 6, typed: "lov" });
    expect(typedMention("@", 1)).toEqual({ from: 0, typed: "" });
    expect(typedMention("a@example.org", 13)).toBeNull();
    expect(typedMention("Hello", 5)).toBeNull();
  });
  it("are found by any word of a name", () => {
    expect(matching(MEMBERS, "lov").map((one) => one.user_id)).toEqual(["1"]);
    expect(matching(MEMBERS, "å").map((one) => one.user_id)).toEqual(["2"]);
  });
  it("are completed where they are written", () => {
    expect(completed("Hi @lo, look", 6, "Ada Lovelace")).toEqual({ text: "Hi @Ada Lovelace , look", caret: 17 });
  });
  it("name members in full", () => {
    expect(mentionsIn("@Ada Lovelace and @Åsa", MEMBERS)).toEqual(["1"]);
  });
});
