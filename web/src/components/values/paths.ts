import { membersOf, type Schema, typeName } from "@/lib/wiring";
import { inShort, shapeOf } from "./shape";

/** One value inside an output, and how a text refers to it. */
export interface PathRow {
  /** What stands between the braces; null where a name cannot be written as a reference. */
  path: string | null;
  name: string;
  value: unknown;
  short: string;
  depth: number;
}

const DEEPEST = 6;
const MOST = 400;
const LONGEST = 200;
const NAME = /^[^\s{}.]+$/u;

/** An output and everything inside it, outermost first; `root` is its path, as `step.output`. */
export function pathRows(root: string, name: string, output: unknown): PathRow[] {
  const rows: PathRow[] = [];
  const add = (path: string | null, label: string, value: unknown, depth: number) => {
    if (rows.length >= MOST) return;
    rows.push({ path, name: label, value, short: inShort(value).slice(0, LONGEST), depth });
    if (depth >= DEEPEST) return;
    for (const [member, inner] of members(value)) {
      add(path !== null && NAME.test(member) ? `${path}.${member}` : null, member, inner, depth + 1);
    }
  };
  add(root, name, unwrapped(output), 0);
  return rows;
}

/** The members of an output that has not been given yet, as its schema describes them: their types in place of values. */
export function expectedRows(root: string, name: string, schema: Schema): PathRow[] {
  const rows: PathRow[] = [];
  const add = (path: string, label: string, inner: Schema, depth: number) => {
    if (rows.length >= MOST) return;
    rows.push({ path, name: label, value: undefined, short: typeName(inner), depth });
    if (depth >= DEEPEST) return;
    for (const member of membersOf(inner)) add(`${path}.${member.name}`, member.name, member.schema, depth + 1);
  };
  add(root, name, schema, 0);
  return rows;
}

/** The rows whose name, path or value has the words searched for. */
export function matching(rows: readonly PathRow[], words: string): PathRow[] {
  const wanted = words.trim().toLowerCase();
  if (!wanted) return [...rows];
  return rows.filter((row) => `${row.name} ${row.path ?? ""} ${row.short}`.toLowerCase().includes(wanted));
}

/** An output as a run keeps it is `{type, value}`; a reference reads the value. */
function unwrapped(output: unknown): unknown {
  if (typeof output !== "object" || output === null) return output;
  const { type, value, ...rest } = output as Record<string, unknown>;
  return typeof type === "string" && "value" in output && Object.keys(rest).length === 0 ? value : output;
}

/** What a reference can go into: members of data; not of a file, or of what is kept as one. */
function members(value: unknown): [string, unknown][] {
  if (typeof value !== "object" || value === null) return [];
  const { kind } = shapeOf(value);
  return kind === "tree" || (kind === "table" && Array.isArray(value)) ? Object.entries(value) : [];
}
