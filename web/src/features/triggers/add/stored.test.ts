import { expect, test } from "vitest";
import type { Trigger } from "@/api/queries/triggers";
import { configOf } from "./draft";
import { changesOf, draftOf } from "./stored";

const trigger = (config: object, more: object = {}): Trigger =>
  ({
    name: "Nightly",
    kind: (config as { kind: string }).kind,
    config,
    policies: { overlap: "skip", limit: 3, catch_up: "all", rate_seconds: 60, rate_runs: 2 },
    input: { text: "Hi", form_data: { a: 1 }, file_ids: ["f"] },
    ...more,
  }) as unknown as Trigger;

const HOOK = { kind: "webhook", verification: "hmac", prefix: "sha=", answer: "result", max_bytes: 7 };
const KINDS: object[] = [
  { kind: "schedule", cron: "30 7 * * MON-FRI", time_zone: "Europe/Stockholm", jitter_seconds: 9, end: null },
  { kind: "schedule", cron: "0 6 15W * *", time_zone: "UTC", jitter_seconds: 0 },
  { kind: "schedule", cron: "0 0 L * *", time_zone: "UTC", jitter_seconds: 0 },
  { kind: "schedule", every_seconds: 90, time_zone: "UTC", jitter_seconds: 0 },
  HOOK,
  { kind: "webhook", verification: "github", text_from: "body.title", form_from: { number: "body.number" } },
  { kind: "webhook", verification: "standard", event: { name: "paid", correlation_from: "body.id", keep_hours: 3 } },
  { kind: "webhook", verification: "key", answer: "result", response: { status: 201, headers: { ETag: "data.tag" } } },
  { kind: "webhook", verification: "key", answer: "stream" },
  { kind: "flow", flow_id: "other", outcomes: ["cancelled"] },
  { kind: "flow", flow_id: "other", outcomes: ["failed", "cancelled"] },
  { kind: "event", name: "paid", correlation: "7" },
  { kind: "manual" },
  { kind: "form", access: "links", title: "Ask", color: "#112233", theme: "dark", max_submissions: 3 },
  { kind: "rows", connection: "db", sql: "SELECT 1", cursor_column: "id", every_seconds: 90, first: "all", most: 9 },
  {
    kind: "mail",
    connection: "inbox",
    folder: "INBOX",
    every_seconds: 60,
    first: "now",
    mark_seen: false,
    form_from: { a: "text" },
    idle: false,
  },
  { kind: "folder", folder: "in", every_seconds: 60, first: "now", watch: false },
  { kind: "schedule", cron: "0 7 * * *", time_zone: "UTC", days: "business", holidays: ["2027-12-24"] },
];

test.each(KINDS)("a stored trigger that nobody changes stays as it is: %j", (config) => {
  const stored = trigger(config);
  expect(changesOf(stored, draftOf(stored))).toEqual({});
});

test("only what is changed is sent, and what the dialog does not show stays", () => {
  const hook = trigger(HOOK);
  const changed = changesOf(hook, { ...draftOf(hook), answer: "accepted", overlap: "queue_all", text: "New" });
  expect(changed).toEqual({
    config: { ...HOOK, answer: "accepted" },
    policies: { ...hook.policies, overlap: "queue_all" },
    input: { text: "New", form_data: { a: 1 }, file_ids: ["f"] },
  });
});

test("a webhook that is to send an event loses what is of a run", () => {
  const hook = trigger({ kind: "webhook", verification: "standard", answer: "result", text_from: "body.a" });
  const draft = draftOf(hook);
  const sent = { name: "paid", correlation: " body.id ", data: "", deliver: "all" as const, keepHours: 3 };
  expect(changesOf(hook, { ...draft, sent }).config).toMatchObject({
    answer: "accepted",
    text_from: null,
    form_from: {},
    event: { name: "paid", correlation_from: "body.id", data_from: null, deliver: "all", keep_hours: 3 },
  });
  expect(configOf({ ...draft, sent: { ...sent, name: " " } })).toBeNull();
  expect(configOf({ ...draft, sent: { ...sent, name: " ", correlation: "" } })).toMatchObject({
    event: { name: null },
  });
});

test("an interval replaces the cron expression", () => {
  const schedule = trigger(KINDS[0] as object);
  const draft = draftOf(schedule);
  const { config } = changesOf(schedule, { ...draft, schedule: { ...draft.schedule, repeat: "interval" } });
  expect(config).toEqual({ ...KINDS[0], cron: undefined, every_seconds: 900 });
  expect(Object.keys(config ?? {})).not.toContain("cron");
});

test("a schedule that no longer minds business days says so", () => {
  const stored = trigger(KINDS.at(-1) as object);
  const draft = draftOf(stored);
  const changed = changesOf(stored, { ...draft, schedule: { ...draft.schedule, days: "every", holidays: [] } });
  expect(changed.config).toMatchObject({ days: "every", holidays: [] });
});
