import { afterEach, describe, expect, it } from "vitest";
import { readStored, removeStored, setStoragePerson, storedKeys, writeStored } from "./storage";

afterEach(() => {
  setStoragePerson("");
  localStorage.clear();
});

describe("What a browser remembers", () => {
  it("shows nobody the conversations, drafts and chats of another", () => {
    setStoragePerson("anna");
    for (const key of ["assistant.f1", "unsaved.f1.tab", "pins.f1", "chat.f1", "assistant.history"])
      writeStored(key, "hers");
    setStoragePerson("bo");
    for (const key of ["assistant.f1", "unsaved.f1.tab", "pins.f1", "chat.f1", "assistant.history"])
      expect(readStored(key, "nothing")).toBe("nothing");
    expect(storedKeys("unsaved.f1.")).toEqual([]);
    removeStored("unsaved.f1.tab");
    setStoragePerson("anna");
    expect(storedKeys("unsaved.f1.")).toEqual(["unsaved.f1.tab"]);
    expect(readStored("assistant.f1", "nothing")).toBe("hers");
  });

  it("takes nothing for what it is not", () => {
    for (const rubbish of ["null", "7", "[]", '"x"', "not json"]) {
      localStorage.setItem("headgate.appearance", rubbish);
      expect(readStored("appearance", { theme: "auto" })).toEqual({ theme: "auto" });
    }
  });

  it("keeps how the page looks for whoever sits there", () => {
    writeStored("appearance", { theme: "dark" });
    setStoragePerson("bo");
    expect(readStored("appearance", {})).toEqual({ theme: "dark" });
  });
});
