export type Sign = "+" | "-" | "~";

/** One thing that is different: a value of a node, a connection, or whatever a place says. */
export interface Change {
  sign: Sign | "";
  /** What it is of: the name of a value; empty where the text says all of it. */
  name: string;
  text: string;
}

/** What is different of one node; what is of none stands together. */
export interface ChangedNode {
  id: string;
  type: string;
  /** Whether the node itself came or went; otherwise only what it holds is different. */
  sign: Sign | "";
  changes: Change[];
}

const HEADER = /^node '(.+?)' \((\w+)\)$/;
const VALUE = /^node '(.+?)' (.+)$/s;
/** As a Flowise place words it: `llm_0: ChatOpenAI`, and `llm_0.temperature: 0.2`. */
const OUTSIDE_HEADER = /^([A-Za-z]\w*_\d+): (\w+)$/;
const OUTSIDE_VALUE = /^([A-Za-z]\w*_\d+)\.(.+)$/s;
const NAMED = /^([\w.[\]-]+): (.*)$/s;

const signOf = (line: string): Sign | "" => (/^[+\-~] /.test(line) ? (line[0] as Sign) : "");

/** Lines of a difference by node, in their order; a line that is of no kind we know stands as it is. */
export function changedNodes(lines: readonly string[]): ChangedNode[] {
  const nodes = new Map<string, ChangedNode>();
  for (const line of lines) {
    const sign = signOf(line);
    const { id, type, change } = read(sign ? line.slice(2) : line);
    const node = nodes.get(id) ?? { id, type: "", sign: "" as const, changes: [] };
    if (type) Object.assign(node, { type, sign });
    else node.changes.push({ sign, ...change });
    nodes.set(id, node);
  }
  return [...nodes.values()];
}

/** Of which node it is, and whether it is the node itself, by its type, or something of it. */
function read(said: string): { id: string; type?: string; change: Omit<Change, "sign"> } {
  const header = HEADER.exec(said) ?? OUTSIDE_HEADER.exec(said);
  const value = VALUE.exec(said) ?? OUTSIDE_VALUE.exec(said);
  if (header) return { id: header[1] as string, type: header[2] as string, change: { name: "", text: "" } };
  if (value) return { id: value[1] as string, change: named(value[2] as string) };
  return { id: "", change: { name: "", text: said.replace(/^edge /, "") } };
}

function named(said: string): { name: string; text: string } {
  const found = NAMED.exec(said);
  return found ? { name: (found[1] ?? "").replace(/^params\./, ""), text: found[2] ?? "" } : { name: "", text: said };
}
