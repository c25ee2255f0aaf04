import type { Issue } from "@/lib/draft";

/** The node that an issue is about; empty for the flow as a whole. */
export const issueNode = (issue: Issue): string => String(issue.node ?? issue.node_id ?? "");

/** The first issue with a node's field, as the server says it; `empty` where the field is only not filled in yet. */
export function issueOf(issues: readonly Issue[], id: string, field: string, empty?: string): string | null {
  const errors = issues.filter((issue) => issue.severity !== "warning");
  const issue = errors.find((one) => issueNode(one) === id && one.field === field);
  return (issue?.code === "missing_value" ? empty : undefined) ?? issue?.message ?? null;
}

/** Issues of a node that no field of it shows. */
export function issuesElsewhere(issues: readonly Issue[], id: string, shown: (field: string) => boolean): Issue[] {
  return issues.filter((issue) => issueNode(issue) === id && !shown(issue.field ?? ""));
}
