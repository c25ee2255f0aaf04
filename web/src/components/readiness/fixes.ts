import type { Issue } from "@/lib/draft";
import type en from "./texts/en";

type Text = keyof typeof en;

/** An issue of the readiness check, whichever answer of the server it was read from. */
export interface Shown {
  code: string;
  severity: "error" | "warning";
  message: string;
  remedy: string;
  nodeId: string;
  /** What has to be set up outside the flow: the name of a variable, a model, an MCP server. */
  about: string;
}

/** Where something outside the flow is set up. */
export interface Fix {
  section: "variables" | "models" | "mcp" | "connections";
  label: Text;
  missing: Text;
}

const FIXES: Record<string, Fix> = {
  variable_kept: { section: "variables", label: "set_variable", missing: "variable_kept" },
  variable_not_found: { section: "variables", label: "set_variable", missing: "variable_missing" },
  model_not_usable: { section: "models", label: "set_up_model", missing: "model_missing" },
  connection: { section: "connections", label: "add_connection", missing: "connection_missing" },
  mcp_server: { section: "mcp", label: "add_server", missing: "server_missing" },
};

/** Where an issue is fixed, when that is not in the flow. */
export const fixOf = (issue: Pick<Shown, "code" | "about">): Fix | null =>
  issue.about ? (FIXES[issue.code] ?? null) : null;

/** An issue of the draft as it is shown. */
export function shownIssue(issue: Issue): Shown {
  const node = issue.node ?? issue.node_id;
  return {
    code: issue.code,
    severity: issue.severity === "warning" ? "warning" : "error",
    message: issue.message,
    remedy: issue.remedy ?? "",
    nodeId: typeof node === "string" ? node : "",
    about: typeof issue.about === "string" ? issue.about : "",
  };
}

/** What an issue says, with the node by the name that its reader knows instead of its id and type. */
export function inNames(message: string, nodeId: string, name: string): string {
  const words = name ? message.replace(`node '${nodeId}' `, `“${name}” `).replace(/^(“.*” )\(\w+\) /, "$1") : message;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
