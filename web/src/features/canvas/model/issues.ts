import type { Issue } from "@/lib/draft";

const NONE: Issue[] = [];
const sorted = new WeakMap<Issue[], Map<string, Issue[]>>();

/** Whether one of them prevents a run; the others are warnings. */
export const hasErrors = (issues: readonly Issue[]) => issues.some((one) => one.severity !== "warning");

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
