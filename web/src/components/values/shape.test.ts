import { describe, expect, it } from "vitest";
import { asText, inShort, looksLikeMarkdown, shapeOf } from "./shape";

const FILE = { id: "f1", name: "a.png", media_type: "image/png", size: 10 };

describe("the shape of a value", () => {
  it("is what people would call it", () => {
    expect(shapeOf(null).kind).toBe("nothing");
    expect(shapeOf(3).kind).toBe("plain");
    expect(shapeOf(FILE)).toEqual({ kind: "file", file: FILE });
    expect(shapeOf({ role: "assistant", text: "hi", files: [FILE] })).toEqual({
      kind: "message",
      text: "hi",
      files: [FILE],
    });
    expect(shapeOf({ columns: ["a"], rows: [[1]] }).kind).toBe("table");
    expect(shapeOf({ type: "Text", value: "hi" })).toEqual({ kind: "text", text: "hi" });
    expect(
      shapeOf({ type: "Text", file_id: "f", preview: "x", size_bytes: 9, media_type: "t", truncated: true }).kind,
    ).toBe("long");
  });

  it("of a list of alike objects is a table, of others a tree", () => {
    expect(shapeOf([{ a: 1, b: 2 }, { a: 3 }])).toEqual({
      kind: "table",
      table: {
        columns: ["a", "b"],
        rows: [
          [1, 2],
          [3, undefined],
        ],
      },
    });
    expect(shapeOf([{ a: 1 }, { b: 1 }, { c: 1 }]).kind).toBe("tree");
    expect(shapeOf([1, 2]).kind).toBe("tree");
    expect(shapeOf([{ ride: "Airport", price: 4200 }]).kind).toBe("table");
    expect(shapeOf([{ ride: { from: "Airport" } }]).kind).toBe("tree");
  });

  it("is a table in short with its columns, not as JSON", () => {
    const table = {
      columns: ["country", "price"],
      rows: [
        ["Sweden", 10],
        ["Norway", null],
      ],
    };
    expect(inShort({ type: "Table", value: table })).toBe("country, price: Sweden, 10; Norway, ");
  });

  it("is copied as text", () => {
    expect(asText([{ a: 1 }, { a: "x" }])).toBe("a\n1\nx");
    expect(asText({ a: [1] })).toBe('{\n  "a": [\n    1\n  ]\n}');
  });

  it("is Markdown where it is marked up", () => {
    expect(looksLikeMarkdown("# Title")).toBe(true);
    expect(looksLikeMarkdown("a **bold** word")).toBe(true);
    expect(looksLikeMarkdown("2 * 3 = 6, a_b_c")).toBe(false);
  });
});
