import { describe, expect, it } from "vitest";
import { fromGrid, pasteCells, readCells, tableOfCells, toGrid } from "./tablePaste";

describe("cells from a spreadsheet", () => {
  it("are read between tabs and lines", () => {
    expect(readCells("a\tb\r\nc\t\n")).toEqual([
      ["a", "b"],
      ["c", ""],
    ]);
  });

  it("may hold breaks and quotes where they stand in quotes", () => {
    expect(readCells('"two\nlines"\t"say ""hi"""\nx\ty')).toEqual([
      ["two\nlines", 'say "hi"'],
      ["x", "y"],
    ]);
  });

  it("keep a quote that quotes nothing", () => {
    expect(readCells('5" pipe\tb')).toEqual([['5" pipe', "b"]]);
  });

  it("make a table whose first line names the columns", () => {
    const grid = tableOfCells(readCells("name\tage\nAnna\t31\n0012\t2.50"));
    expect(fromGrid(grid)).toEqual([
      { name: "Anna", age: 31 },
      { name: "0012", age: 2.5 },
    ]);
  });

  it("grow the table where they do not fit", () => {
    const grid = pasteCells({ columns: ["a"], rows: [["1"]] }, 0, 0, [
      ["x", "y"],
      ["z", ""],
    ]);
    expect(grid).toEqual({
      columns: ["a", "column_2"],
      rows: [
        ["x", "y"],
        ["z", ""],
      ],
    });
  });
});

describe("a table's value", () => {
  it("is a grid with the columns of all its rows, and back", () => {
    const grid = toGrid([{ a: 1 }, { b: "x" }]);
    expect(grid).toEqual({
      columns: ["a", "b"],
      rows: [
        [1, ""],
        ["", "x"],
      ],
    });
    expect(toGrid("{{rows.output}}")).toBeNull();
    expect(toGrid([1])).toBeNull();
  });
});
