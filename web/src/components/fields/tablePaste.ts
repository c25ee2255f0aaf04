import type { JsonValue } from "@/api/types";

export interface Grid {
  columns: string[];
  rows: JsonValue[][];
}

/** What a spreadsheet puts on the clipboard: lines of cells between tabs; cells with breaks stand in quotes. */
export function readCells(text: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  const source = text.replace(/\r\n?/g, "\n").replace(/\n$/, "");
  while (at <= source.length) {
    const quoted = source[at] === '"' ? /^"((?:[^"]|"")*)"(?=[\t\n]|$)/.exec(source.slice(at)) : null;
    const plain = quoted ? null : /^[^\t\n]*/.exec(source.slice(at));
    row.push(quoted ? (quoted[1] ?? "").replaceAll('""', '"') : (plain?.[0] ?? ""));
    at += (quoted ?? plain)?.[0].length ?? 0;
    if (source[at] !== "\t") {
      rows.push(row);
      row = [];
    }
    if (at >= source.length) break;
    at += 1;
  }
  return rows;
}

/** Put cells into a grid from one of its cells on; it grows where they do not fit. */
export function pasteCells(grid: Grid, row: number, column: number, cells: string[][]): Grid {
  const wide = Math.max(0, ...cells.map((line) => line.length)) + column;
  const columns = [...grid.columns];
  while (columns.length < wide) columns.push(freeColumn(columns));
  const rows = grid.rows.map((line) => [...line]);
  for (const [down, line] of cells.entries()) {
    const target = rows[row + down] ?? [];
    for (const [right, cell] of line.entries()) target[column + right] = cellValue(cell);
    rows[row + down] = target;
  }
  return { columns, rows: rows.map((line) => columns.map((_, index) => line[index] ?? "")) };
}

/** A whole table from the clipboard: its first line names the columns. */
export function tableOfCells(cells: string[][]): Grid {
  const [head = [], ...body] = cells;
  const columns: string[] = [];
  for (const name of head) {
    const wanted = name.trim();
    columns.push(wanted && !columns.includes(wanted) ? wanted : freeColumn(columns));
  }
  return pasteCells({ columns, rows: [] }, 0, 0, body);
}

/** A number where the cell is written as one, the way JSON writes it; else the text. */
export function cellValue(cell: string): JsonValue {
  return /^-?(0|[1-9]\d{0,14})(\.\d+)?$/.test(cell) ? Number(cell) : cell;
}

export function freeColumn(columns: readonly string[]): string {
  for (let count = columns.length + 1; ; count += 1) {
    if (!columns.includes(`column_${count}`)) return `column_${count}`;
  }
}

/** The grid of a table's value: a list of objects. Null where it is something else. */
export function toGrid(value: JsonValue | undefined): Grid | null {
  if (value === undefined || value === null || value === "") return { columns: [], rows: [] };
  if (!Array.isArray(value)) return null;
  const objects = value.filter((row): row is { [name: string]: JsonValue } => isObject(row));
  if (objects.length !== value.length) return null;
  const columns = [...new Set(objects.flatMap((row) => Object.keys(row)))];
  return { columns, rows: objects.map((row) => columns.map((name) => row[name] ?? "")) };
}

export function fromGrid({ columns, rows }: Grid): JsonValue {
  return rows.map((row) => Object.fromEntries(columns.map((name, index) => [name, row[index] ?? ""])));
}

const isObject = (value: JsonValue) => typeof value === "object" && value !== null && !Array.isArray(value);
