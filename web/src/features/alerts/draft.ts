import type { AlertRule, AlertRuleChange, NewAlertRule } from "@/api/queries/alerts";

export type Kind = AlertRule["kind"];
export const KINDS: readonly Kind[] = [
  "failure",
  "failure_rate",
  "slow",
  "silent",
  "cost",
  "queue",
  "budget",
  "burn_fast",
  "burn_slow",
  "dead_worker",
];
export const WINDOWS = [300, 900, 3_600, 21_600, 86_400, 604_800] as const;
/** Every space of the organisation. */
export const EVERYWHERE = "*";

/** A rule as the form has it; numbers are texts. */
export interface RuleDraft {
  name: string;
  kind: Kind;
  /** A space, or `EVERYWHERE`. */
  scope: string;
  threshold: string;
  window: string;
  fewest: string;
  connection: string;
  recipients: string;
  webhook: string;
  dropWebhook: boolean;
  escalateAfter: string;
  escalateThrough: string;
  escalateTo: string;
  quiet: string;
  notifyResolved: boolean;
  language: "en" | "sv";
}

export interface Suggestion {
  kind: Kind;
  threshold: string;
  window: string;
}

/** Useful first rules. */
export const SUGGESTIONS = {
  suggest_failure: { kind: "failure", threshold: "1", window: "3600" },
  suggest_silent: { kind: "silent", threshold: "0", window: "900" },
  suggest_slow: { kind: "slow", threshold: "600", window: "3600" },
  suggest_cost: { kind: "cost", threshold: "10", window: "86400" },
} as const satisfies Record<string, Suggestion>;

const DEFAULTS: Record<Kind, string> = {
  failure: "1",
  failure_rate: "10",
  slow: "600",
  silent: "0",
  cost: "10",
  queue: "1",
  budget: "80",
  burn_fast: "14.4",
  burn_slow: "6",
  dead_worker: "1",
};
/** Kinds whose threshold and window the server sets. */
export const isFixed = (kind: Kind) => kind === "burn_fast" || kind === "burn_slow";
export const thresholdOf = (kind: Kind) => DEFAULTS[kind];

export function draftOf(
  rule: AlertRule | undefined,
  first: { name?: string; scope: string; suggestion?: Suggestion; language: "en" | "sv" },
): RuleDraft {
  return {
    name: rule?.name ?? first.name ?? "",
    kind: rule?.kind ?? first.suggestion?.kind ?? "failure",
    scope: rule ? (rule.space_id ?? EVERYWHERE) : first.scope,
    threshold: String(rule?.threshold ?? first.suggestion?.threshold ?? DEFAULTS.failure),
    window: String(rule?.window_seconds ?? first.suggestion?.window ?? 3_600),
    fewest: String(rule?.fewest_runs ?? 5),
    connection: rule?.connection_id ?? "",
    recipients: rule?.recipients.join(", ") ?? "",
    webhook: "",
    dropWebhook: false,
    escalateAfter: String(rule?.escalation_seconds ?? 0),
    escalateThrough: rule?.escalation_connection_id ?? "",
    escalateTo: rule?.escalation_recipients.join(", ") ?? "",
    quiet: String(rule?.quiet_seconds ?? 900),
    notifyResolved: rule?.notify_resolved ?? true,
    language: rule?.language ?? first.language,
  };
}

const listOf = (text: string) =>
  text
    .split(/[,;\s]+/)
    .map((part) => part.trim())
    .filter(Boolean);

const isPositive = (text: string) => Number.isFinite(Number(text)) && Number(text) > 0;

/** Whether the numbers of a draft can be sent; the server checks the rest. */
export const isThreshold = (draft: RuleDraft) => draft.kind === "silent" || isPositive(draft.threshold);
export const isComplete = (draft: RuleDraft) =>
  draft.name.trim() !== "" && isThreshold(draft) && isPositive(draft.fewest);

/** What a draft sets of a rule. */
export function changeOf(draft: RuleDraft): AlertRuleChange {
  const escalates = Number(draft.escalateAfter) > 0 && draft.escalateThrough !== "";
  return {
    name: draft.name.trim(),
    threshold: draft.kind === "silent" ? 0 : Number(draft.threshold),
    window_seconds: Number(draft.window),
    fewest_runs: Math.round(Number(draft.fewest)),
    connection_id: draft.connection || null,
    recipients: draft.connection ? listOf(draft.recipients) : [],
    ...(draft.dropWebhook || draft.webhook.trim()
      ? { webhook_url: draft.dropWebhook ? "" : draft.webhook.trim() }
      : {}),
    escalation_seconds: escalates ? Number(draft.escalateAfter) : null,
    escalation_connection_id: escalates ? draft.escalateThrough : null,
    escalation_recipients: escalates ? listOf(draft.escalateTo) : [],
    quiet_seconds: Number(draft.quiet),
    notify_resolved: draft.notifyResolved,
    language: draft.language,
  };
}

/** A new rule, of a flow where one is given. */
export const newRuleOf = (draft: RuleDraft, flowId: string | undefined): NewAlertRule =>
  ({
    ...changeOf(draft),
    kind: draft.kind,
    ...(flowId ? { flow_id: flowId } : draft.scope === EVERYWHERE ? {} : { space_id: draft.scope }),
  }) as NewAlertRule;
