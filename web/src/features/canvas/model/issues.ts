import type { Issue } from "@/lib/draft";

const NONE: Issue[] = [];
const sorted = new WeakMap<Issue[], Map<string, Issue[]>>();

/** Codes of what simply has not been filled in yet: no mistake of anybody's. */
const UNFILLED: ReadonlySet<string> = new Set(["missing_value", "missing_form"]);

/** What a node's mark says: something is wrong, a value is still needed, or a warning. */
export function stateOf(issues: readonly Issue[]): "wrong" | "needs" | "warning" | null {
  const errors = issues.filter((issue) => issue.severity !== "warning");
  if (errors.some((issue) => !UNFILLED.has(issue.code))) return "wrong";
  return errors.length > 0 ? "needs" : issues.length > 0 ? "warning" : null;
}

/** What is wrong with a node; the same list as long as the server says the same. */
export function issuesOf(issues: Issue[], id: string): Issue[] {
  let byNode = sorted.get(issues);
  if (!byNode) {
    byNode = new Map();
    for (const issue of issues) {
      const node = String(issue.node_id ?? issue.node ?? "");
      byNode.set(node, [...(byNode.get(node) ?? []), issue]);
    }
    sorted.set(issues, byNode);
  }
  return byNode.get(id) ?? NONE;
}
