import type { Trigger, TriggerChange } from "@/api/queries/triggers";
import { newSchedule, repeatOf, type ScheduleDraft, type Weekday } from "../model/schedule";
import { configOf, newDraft, policiesOf, type SentDraft, type TriggerDraft } from "./draft";
import { formDraftOf } from "./forms";
import { mappedDraftOf } from "./mapped";
import { FIELDS, newPoll, type PollDraft } from "./polls";
import { responseDraftOf } from "./response";

type Config = Trigger["config"];

/** A stored trigger as it is written in the dialog. */
export function draftOf(trigger: Trigger): TriggerDraft {
  const { config, policies } = trigger;
  const draft: TriggerDraft = {
    ...newDraft(),
    name: trigger.name,
    kind: trigger.kind,
    text: trigger.input.text ?? "",
    overlap: policies.overlap ?? "skip",
    catchUp: policies.catch_up ?? "latest",
  };
  switch (config.kind) {
    case "webhook":
      return {
        ...draft,
        verification: config.verification ?? "key",
        answer: config.answer ?? "accepted",
        response: responseDraftOf(config.response),
        sent: sentDraftOf(config.event),
        mapped: mappedDraftOf(config),
      };
    case "form":
      return { ...draft, form: formDraftOf(config) };
    case "flow":
      return { ...draft, flow: config.flow_id, outcome: outcomeOf(config.outcomes ?? ["completed"]) };
    case "event":
      return { ...draft, event: config.name };
    case "manual":
      return draft;
    case "schedule":
      return { ...draft, schedule: scheduleDraftOf(config) };
    default:
      return { ...draft, poll: pollDraftOf(config), mapped: mappedDraftOf(config) };
  }
}

function sentDraftOf(event: Extract<Config, { kind?: "webhook" }>["event"]): SentDraft | null {
  return event
    ? {
        name: event.name ?? "",
        correlation: event.correlation_from ?? "",
        data: event.data_from ?? "",
        deliver: event.deliver ?? "one",
        keepHours: event.keep_hours ?? 24,
      }
    : null;
}

const outcomeOf = (outcomes: readonly string[]) =>
  outcomes.length > 1 ? "any" : outcomes[0] === "failed" ? "failed" : "completed";

function scheduleDraftOf(config: Extract<Config, { kind?: "schedule" }>): ScheduleDraft {
  const days = {
    days: config.days ?? "every",
    holidays: config.holidays ?? [],
    calendarUrl: config.calendar_url ?? "",
  };
  const draft = { ...newSchedule(), zone: config.time_zone ?? "UTC", ...days };
  if (config.every_seconds) return { ...draft, repeat: "interval", minutes: String(config.every_seconds / 60) };
  const cron = config.cron ?? "";
  const known = repeatOf(cron);
  if (!known) return { ...draft, repeat: "cron", cron };
  const { repeat, time, day, minute } = known;
  if (repeat === "hourly") return { ...draft, repeat, minute };
  if (repeat === "weekly") return { ...draft, repeat, time, weekday: day as Weekday };
  return { ...draft, repeat, time, ...(repeat === "monthly" || repeat === "nearest" ? { day } : {}) };
}

function pollDraftOf(config: Config): PollDraft {
  const stored = config as Record<string, unknown>;
  const values = Object.fromEntries(FIELDS.filter((field) => stored[field]).map((field) => [field, stored[field]]));
  return {
    ...newPoll(),
    values: values as PollDraft["values"],
    minutes: String(Number(stored.every_seconds ?? 300) / 60),
    first: stored.first === "all" ? "all" : "now",
    markSeen: stored.mark_seen !== false,
    idle: stored.idle !== false,
    watch: stored.watch !== false,
    missing: stored.missing === "latest" ? "latest" : "earliest",
    lookBack: String(stored.look_back ?? newPoll().lookBack),
  };
}

/** What the user changed. What the dialog does not show stays as it is stored. */
export function changesOf(trigger: Trigger, draft: TriggerDraft): TriggerChange {
  const before = draftOf(trigger);
  const changes: TriggerChange = {};
  if (draft.name.trim() !== trigger.name) changes.name = draft.name.trim();
  const config = merged(trigger.config, configOf(before), configOf(draft));
  if (config) changes.config = config as TriggerChange["config"];
  const policies = merged(trigger.policies, policiesOf(before), policiesOf(draft));
  if (policies) changes.policies = policies as TriggerChange["policies"];
  if (draft.text !== before.text) changes.input = { ...trigger.input, text: draft.text };
  if (draft.kind === "webhook" && draft.secret.trim()) changes.secret = draft.secret.trim();
  return changes;
}

/** Stored settings with the members that differ between two states of the dialog; null where none does. */
function merged(stored: object, before: object | null, after: object | null): Record<string, unknown> | null {
  const from = (before ?? stored) as Record<string, unknown>;
  const to = (after ?? from) as Record<string, unknown>;
  const differs = [...new Set([...Object.keys(from), ...Object.keys(to)])].filter(
    (name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]),
  );
  if (differs.length === 0) return null;
  const result: Record<string, unknown> = { ...stored };
  for (const name of differs) {
    if (to[name] === undefined) delete result[name];
    else result[name] = to[name];
  }
  return result;
}
