import { describe, expect, it } from "vitest";
import { foldersBelow, parentsOf } from "./folders";

const FOLDERS = [
  { name: "Finance", flows: 1 },
  { name: "Finance/Invoices/2026", flows: 2 },
  { name: "Finances", flows: 4 },
];

describe("folders of flows", () => {
  it("count the flows below them", () => {
    expect(foldersBelow(FOLDERS, "")).toEqual([
      { name: "Finance", path: "Finance", flows: 3 },
      { name: "Finances", path: "Finances", flows: 4 },
    ]);
  });
  it("exist between a folder and one with flows", () => {
    expect(foldersBelow(FOLDERS, "Finance")).toEqual([{ name: "Invoices", path: "Finance/Invoices", flows: 2 }]);
    expect(foldersBelow(FOLDERS, "Finance/Invoices/2026")).toEqual([]);
  });
  it("have a way up", () => {
    expect(parentsOf("a/b/c")).toEqual(["a", "a/b", "a/b/c"]);
    expect(parentsOf("")).toEqual([]);
  });
});
