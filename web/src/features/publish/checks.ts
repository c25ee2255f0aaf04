import type { Standing, TestSet } from "@/api/queries/tests";
import type { DryRunOut } from "@/api/queries/versions";
import { type Shown, shownIssue } from "@/components/readiness";
import type { Issue } from "@/lib/draft";

/** Something that a check found. */
export type Found = Shown;

const CHECKS = ["flow", "contracts", "classes", "code", "models", "secrets", "outside"] as const;
type CheckName = (typeof CHECKS)[number] | "tests";

export interface Check {
  name: CheckName;
  found: Found[];
}

const OF_CODE: Record<string, CheckName> = {
  contract: "contracts",
  binding: "contracts",
  policy: "contracts",
  unresolved_reference: "contracts",
  incompatible: "contracts",
  classification: "classes",
  unchecked_code: "code",
  model_not_usable: "models",
  model_unknown: "models",
  model_cannot: "models",
  prompt_too_long: "models",
  variable_kept: "secrets",
  variable_not_found: "secrets",
  connection: "outside",
  mcp_server: "outside",
  address: "outside",
};

/** What stands in the way, by what is checked. A look ahead at a run finds all that the draft's own issues say, and more. */
export function checksOf(issues: readonly Issue[], dryRun: DryRunOut | undefined): Check[] {
  const found = dryRun ? dryRun.findings.map(ofFinding) : issues.map(ofIssue);
  return CHECKS.map((name) => ({ name, found: found.filter((one) => one.check === name) }));
}

type Sorted = Found & { check: CheckName };

function ofFinding(one: DryRunOut["findings"][number]): Sorted {
  const { severity, message, remedy = "", node = "", code, about = "" } = one;
  return { severity, message, remedy, nodeId: node, code, about, check: checkOf(code, message) };
}

function ofIssue(issue: Issue): Sorted {
  return { ...shownIssue(issue), check: checkOf(issue.code, issue.message) };
}

/** Of code that the sandbox would refuse the server says the line: `line 3 of 'code' of node …`. */
function checkOf(code: string, message: string): CheckName {
  if (code === "invalid_value" && /^line \d+ of /.test(message)) return "code";
  return OF_CODE[code] ?? "flow";
}

/** Whether the draft's tests passed, where the flow requires it; `say` puts a standing into words. */
export function testsCheck(
  tests: TestSet | undefined,
  say: (state: Standing["state"], names: string) => string,
): Check[] {
  if (!tests?.required) return [];
  const { state, failed = [] } = tests.standing;
  const message = say(state, failed.join(", "));
  const error: Found = { code: "tests", severity: "error", message, remedy: "", nodeId: "", about: "" };
  return [{ name: "tests", found: state === "passed" ? [] : [error] }];
}

export const hasErrors = (check: Check) => check.found.some((one) => one.severity === "error");
