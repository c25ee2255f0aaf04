/** A stored file as a value carries it. */
interface FileValue {
  id: string;
  name: string;
  media_type: string;
  size: number;
}

export interface TableValue {
  columns: string[];
  rows: unknown[][];
}

/** A value that was too large to be kept inline. */
export interface LongValue {
  file_id: string;
  media_type: string;
  size_bytes: number;
  preview: string;
}

/** What a value is, so that it can be shown as that. */
export type Shape =
  | { kind: "nothing" }
  | { kind: "text"; text: string }
  | { kind: "plain"; text: string }
  | { kind: "message"; text: string; files: FileValue[] }
  | { kind: "file"; file: FileValue }
  | { kind: "table"; table: TableValue }
  | { kind: "long"; value: LongValue }
  | { kind: "tree"; value: object };

export function shapeOf(value: unknown): Shape {
  if (value === null || value === undefined) return { kind: "nothing" };
  if (typeof value === "string") return { kind: "text", text: value };
  if (typeof value !== "object") return { kind: "plain", text: String(value) };
  if (Array.isArray(value)) {
    const table = tableOf(value);
    return table ? { kind: "table", table } : { kind: "tree", value };
  }
  return objectShape(value as Record<string, unknown>);
}

function objectShape(value: Record<string, unknown>): Shape {
  // An output as a run keeps it: `{type, value}`, or a file in its place with a preview.
  if (typeof value.type === "string" && "value" in value && Object.keys(value).length === 2)
    return shapeOf(value.value);
  if (value.truncated === true && typeof value.file_id === "string") {
    return { kind: "long", value: value as unknown as LongValue };
  }
  if (isFile(value)) return { kind: "file", file: value };
  if (typeof value.text === "string" && typeof value.role === "string" && Array.isArray(value.files)) {
    return { kind: "message", text: value.text, files: value.files.filter(isFile) };
  }
  if (isTable(value)) return { kind: "table", table: value };
  return { kind: "tree", value };
}

function isFile(value: unknown): value is FileValue {
  const found = value as Record<string, unknown> | null;
  return typeof found?.id === "string" && typeof found.media_type === "string" && typeof found.name === "string";
}

function isTable(value: unknown): value is TableValue {
  const { columns, rows } = value as Record<string, unknown>;
  return (
    Array.isArray(columns) &&
    Array.isArray(rows) &&
    rows.every(Array.isArray) &&
    Object.keys(value as object).length === 2
  );
}

/** A list of objects that share most of their members is read as a table; a single one if its members are plain. */
function tableOf(items: unknown[]): TableValue | null {
  if (items.length === 0 || !items.every(isRecord)) return null;
  if (items.length === 1 && Object.values(items[0] ?? {}).some((member) => typeof member === "object")) return null;
  const columns = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const filled = items.reduce((sum, item) => sum + Object.keys(item).length, 0);
  if (columns.length === 0 || columns.length > 40 || filled / (items.length * columns.length) < 0.6) return null;
  return { columns, rows: items.map((item) => columns.map((column) => item[column])) };
}

function isRecord(item: unknown): item is Record<string, unknown> {
  return typeof item === "object" && item !== null && !Array.isArray(item);
}

/** A value as one short line. */
export function inShort(value: unknown): string {
  const shape = shapeOf(value);
  if (shape.kind === "nothing") return "";
  if (shape.kind === "text" || shape.kind === "plain" || shape.kind === "message") return shape.text;
  if (shape.kind === "file") return shape.file.name;
  if (shape.kind === "long") return shape.value.preview;
  if (shape.kind === "tree") return JSON.stringify(shape.value);
  const { columns, rows } = shape.table;
  const lines = rows.slice(0, MOST_SHORT).map((row) => row.map(inShort).join(", "));
  return `${columns.join(", ")}: ${lines.join("; ")}`;
}

/** Rows of a table in a short line: more than fit there. */
const MOST_SHORT = 50;

/** A value as text, to copy or to compare. */
export function asText(value: unknown): string {
  const shape = shapeOf(value);
  if (shape.kind === "table") {
    const lines = [shape.table.columns, ...shape.table.rows];
    return lines.map((line) => line.map(inShort).join("\t")).join("\n");
  }
  if (shape.kind === "tree") return JSON.stringify(shape.value, null, 2);
  return inShort(value);
}

const MARKS = /(^|\n)(#{1,6} |[-*] |\d+\. |> |```|\|.+\|)|\*\*[^*\n]+\*\*|\[[^\]\n]+\]\([^)\s]+\)|`[^`\n]+`/;

/** Whether a text reads better as Markdown than as it is written. */
export function looksLikeMarkdown(text: string): boolean {
  return MARKS.test(text.slice(0, 20_000));
}
