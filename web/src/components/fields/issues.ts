import type { Issue } from "@/lib/draft";

/** The node that an issue is about; empty for the flow as a whole. */
export const issueNode = (issue: Issue): string => String(issue.node ?? issue.node_id ?? "");

/** The first issue with a node's field, as the server says it. */
export function issueOf(issues: readonly Issue[], id: string, field: string): string | null {
  const errors = issues.filter((issue) => issue.severity !== "warning");
  return errors.find((issue) => issueNode(issue) === id && issue.field === field)?.message ?? null;
}

/** Issues of a node that no field of it shows. */
export function issuesElsewhere(issues: readonly Issue[], id: string, shown: (field: string) => boolean): Issue[] {
  return issues.filter((issue) => issueNode(issue) === id && !shown(issue.field ?? ""));
}
