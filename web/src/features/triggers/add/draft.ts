import type { NewTrigger } from "@/api/queries/triggers";
import { newSchedule, type ScheduleDraft, scheduleOf } from "../model/schedule";
import { type FormDraft, formOf, newForm } from "./forms";
import { type MappedDraft, mappedOf, newMapped } from "./mapped";
import { isPoll, newPoll, POLLS, type PollDraft, pollOf } from "./polls";
import { newResponse, type ResponseDraft, responseOf } from "./response";

export const KINDS = ["schedule", "webhook", "form", "flow", "event", "manual", ...POLLS] as const;
export type Kind = (typeof KINDS)[number];
export const VERIFICATIONS = ["github", "stripe", "slack", "standard", "hmac", "basic", "key", "none"] as const;
export type Verification = (typeof VERIFICATIONS)[number];
export const ANSWERS = ["accepted", "result", "stream"] as const;
export type Answer = (typeof ANSWERS)[number];
export const OVERLAPS = ["skip", "queue_one", "queue_all", "replace", "cancel_old", "allow"] as const;
export type Overlap = (typeof OVERLAPS)[number];
export const CATCH_UPS = ["latest", "all", "none"] as const;
export type CatchUp = (typeof CATCH_UPS)[number];
export type Outcome = "completed" | "failed" | "any";

/** The event that a call sends instead of starting a run. */
export interface SentDraft {
  name: string;
  correlation: string;
  data: string;
  deliver: "one" | "all";
  keepHours: number;
}

export const newSent = (): SentDraft => ({ name: "", correlation: "", data: "", deliver: "one", keepHours: 24 });

/** A trigger as it is written in the dialog. */
export interface TriggerDraft {
  name: string;
  kind: Kind;
  schedule: ScheduleDraft;
  verification: Verification;
  secret: string;
  answer: Answer;
  response: ResponseDraft;
  /** Null: a call starts a run. */
  sent: SentDraft | null;
  flow: string;
  outcome: Outcome;
  event: string;
  poll: PollDraft;
  /** What a run receives of a call or an item. */
  mapped: MappedDraft;
  form: FormDraft;
  text: string;
  overlap: Overlap;
  catchUp: CatchUp;
}

export const newDraft = (): TriggerDraft => ({
  name: "",
  kind: "schedule",
  schedule: newSchedule(),
  verification: "key",
  secret: "",
  answer: "accepted",
  response: newResponse(),
  sent: null,
  flow: "",
  outcome: "completed",
  event: "",
  poll: newPoll(),
  mapped: newMapped(),
  form: newForm(),
  text: "",
  overlap: "skip",
  catchUp: "latest",
});

const AT_ONCE = 100;

/** What is usual for a kind: calls and events that come at the same time each have their run. */
export const usualOverlap = (kind: Kind): Overlap => (kind === "schedule" || kind === "flow" ? "skip" : "allow");

/** What happens when occurrences meet. */
export function policiesOf(draft: TriggerDraft) {
  return {
    overlap: draft.overlap,
    limit: draft.overlap === "allow" ? AT_ONCE : 1,
    catch_up: draft.catchUp,
    catch_up_hours: 24,
    rate_seconds: 3600,
  };
}

/** What the server stores; null while something is missing. */
export function triggerOf(draft: TriggerDraft): NewTrigger | null {
  const config = configOf(draft);
  if (!config || !draft.name.trim()) return null;
  const secret = draft.kind === "webhook" && draft.secret.trim() ? { secret: draft.secret.trim() } : {};
  return {
    name: draft.name.trim(),
    config,
    policies: policiesOf(draft),
    input: { text: draft.text, form_data: {}, file_ids: [] },
    enabled: true,
    ...secret,
  };
}

/** The settings of the kind of a draft; null while something is missing. */
export function configOf(draft: TriggerDraft): NewTrigger["config"] | null {
  if (isPoll(draft.kind)) {
    const poll = pollOf(draft.kind, draft.poll);
    return poll && { ...poll, ...mappedOf(draft.mapped) };
  }
  switch (draft.kind) {
    case "schedule":
      return scheduleOf(draft.schedule);
    case "webhook":
      return webhook(draft);
    case "form":
      return formOf(draft.form);
    case "flow":
      return draft.flow
        ? {
            kind: "flow",
            flow_id: draft.flow,
            outcomes: draft.outcome === "any" ? ["completed", "failed", "cancelled"] : [draft.outcome],
          }
        : null;
    case "event":
      return draft.event.trim() ? { kind: "event", name: draft.event.trim() } : null;
    default:
      return { kind: "manual" };
  }
}

function webhook(draft: TriggerDraft): NewTrigger["config"] | null {
  if (draft.verification === "basic" && draft.secret.trim() && !draft.secret.includes(":")) return null;
  if (draft.sent && !draft.sent.name.trim() && (draft.sent.correlation.trim() || draft.sent.data.trim())) return null;
  const answer = draft.sent ? "accepted" : draft.answer;
  const response = answer === "result" ? responseOf(draft.response) : null;
  if (response === undefined) return null;
  return {
    kind: "webhook",
    verification: draft.verification,
    answer,
    response,
    algorithm: "sha256",
    encoding: "hex",
    prefix: "",
    replay_seconds: 300,
    max_bytes: 1_000_000,
    calls_per_minute: 600,
    ...(draft.sent ? { event: eventOf(draft.sent), text_from: null, form_from: {} } : mappedOf(draft.mapped)),
  };
}

function eventOf(sent: SentDraft) {
  return {
    name: sent.name.trim() || null,
    correlation_from: sent.correlation.trim() || null,
    data_from: sent.data.trim() || null,
    deliver: sent.deliver,
    keep_hours: sent.keepHours,
  };
}
