import { describe, expect, it } from "vitest";
import { expectedRows, matching, pathRows } from "./paths";

const OUTPUT = { type: "Data", value: { user: { name: "Ada", "first name": "A" }, tags: ["x", "y"] } };

describe("the values of an output", () => {
  it("have the paths that references are written with", () => {
    expect(pathRows("fetch.output", "Data", OUTPUT).map((row) => [row.path, row.depth])).toEqual([
      ["fetch.output", 0],
      ["fetch.output.user", 1],
      ["fetch.output.user.name", 2],
      [null, 2],
      ["fetch.output.tags", 1],
      ["fetch.output.tags.0", 2],
      ["fetch.output.tags.1", 2],
    ]);
  });

  it("are known before they are given, by their schema", () => {
    const schema = {
      type: "object",
      properties: {
        id: { type: "integer" },
        author: { type: ["object", "null"], properties: { "a b": {}, name: {} } },
      },
    };
    expect(expectedRows("call.output", "Call", schema).map((row) => [row.path, row.short])).toEqual([
      ["call.output", "object"],
      ["call.output.id", "integer"],
      ["call.output.author", "object"],
      ["call.output.author.name", ""],
    ]);
  });

  it("are found by name, path and content", () => {
    const rows = pathRows("fetch.output", "Data", OUTPUT);
    expect(matching(rows, "USER.NAME").map((row) => row.short)).toEqual(["Ada"]);
    expect(matching(rows, "ada").map((row) => row.path)).toContain("fetch.output.user.name");
    expect(matching(rows, "nowhere")).toEqual([]);
  });

  it("are not invented inside what is kept as a file, and stay few", () => {
    const long = { type: "Text", file_id: "f", truncated: true, preview: "x", size_bytes: 9, media_type: "text/plain" };
    expect(pathRows("a.output", "Text", long)).toHaveLength(1);
    expect(
      pathRows("a.output", "Data", { type: "Data", value: Array.from({ length: 5000 }, (_, at) => at) }),
    ).toHaveLength(400);
  });
});
