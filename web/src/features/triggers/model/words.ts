import type { Firing, Trigger } from "@/api/queries/triggers";
import { i18next } from "@/lib/i18n/i18n";
import type { TriggerTexts } from "../texts";
import { repeatOf, WEEKDAYS, type Weekday } from "./schedule";

/** The time zone of a schedule with a cron expression; undefined: that of the browser. */
export function zoneOf({ config }: Pick<Trigger, "config">): string | undefined {
  return config.kind === "schedule" && config.cron ? (config.time_zone ?? "UTC") : undefined;
}

/** When a trigger fires, in the language of the page. */
export function triggerWords(t: TriggerTexts, trigger: Pick<Trigger, "config">): string {
  const { config } = trigger;
  if (config.kind === "webhook") return t("words_webhook");
  if (config.kind === "form") return t(config.access === "links" ? "words_form_links" : "words_form");
  if (config.kind === "event") return t("words_event", { name: config.name });
  if (config.kind === "flow") return t("words_flow");
  if (config.kind === "manual") return t("words_manual");
  if (config.kind !== "schedule") return pollWords(t, config);
  if (config.every_seconds) {
    return everyWords(t, config.every_seconds);
  }
  const words = t("words_zone", { words: cronWords(t, config.cron ?? ""), zone: config.time_zone ?? "UTC" });
  return config.days && config.days !== "every" ? `${words} · ${t(`words_days_${config.days}`)}` : words;
}

/** How often something happens: every so many minutes or seconds. */
export function everyWords(t: TriggerTexts, seconds: number): string {
  if (seconds === 60) return t("words_minute");
  return seconds % 60 === 0 ? t("words_minutes", { amount: seconds / 60 }) : t("words_seconds", { amount: seconds });
}

/** What a poll waits for: a folder that does not exist yet, or parts of a topic that could not be read. */
export const waitsWords = (t: TriggerTexts, kind: string, waitsFor: string): string =>
  kind === "topic" ? t("poll_partly", { reason: waitsFor }) : t("poll_waits", { folder: waitsFor });

type Polling = Extract<Trigger["config"], { most?: number }>;

function pollWords(t: TriggerTexts, config: Polling): string {
  return `${sourceWords(t, config)} · ${everyWords(t, config.every_seconds ?? 300)}`;
}

function sourceWords(t: TriggerTexts, config: Polling): string {
  switch (config.kind) {
    case "rows":
      return t("words_rows", { name: config.connection });
    case "stream":
      return t("words_stream", { name: config.connection, stream: config.stream });
    case "queue":
      return t("words_queue", { name: config.connection, queue: config.queue });
    case "topic":
      return t("words_topic", { name: config.connection, topic: config.topic });
    case "mail":
      return t("words_mail", { folder: config.folder ?? "INBOX", name: config.connection });
    case "folder":
      return t("words_folder", {
        pattern: config.pattern ?? "*",
        folder: [config.connection, config.folder || "/"].filter(Boolean).join(": "),
      });
    default:
      return t(`words_${config.kind}`, { url: config.url });
  }
}

function cronWords(t: TriggerTexts, cron: string): string {
  const every = /^\*\/(\d{1,2}) \* \* \* \*$/.exec(cron);
  if (every && 60 % Number(every[1]) === 0) return everyWords(t, Number(every[1]) * 60);
  const known = repeatOf(cron);
  if (!known) return t("words_cron", { cron });
  const { repeat, time, day, minute } = known;
  if (repeat === "hourly") return t("words_hourly", { minute });
  if (repeat === "weekly") return t("words_weekly", { day: weekdayName(day as Weekday), time });
  if (repeat === "nearest") return t("words_nearest", { day, time });
  if (repeat === "monthly") return t("words_monthly", { day, time });
  return t(repeat === "weekdays" ? "words_weekdays" : "words_daily", { time });
}

/** The name of a day of the week. */
export function weekdayName(day: Weekday): string {
  // 2024-01-01 was a Monday.
  const date = new Date(Date.UTC(2024, 0, 1 + WEEKDAYS.indexOf(day)));
  return new Intl.DateTimeFormat(i18next.language, { weekday: "long", timeZone: "UTC" }).format(date);
}

/** `2026-11-30 07:00:00 CET`, as the server writes it, with the day as it is read: `Mon, 30 Nov 2026, 07:00 CET`. */
export function localWords(local: string): string {
  const [day = "", time = "", zone = ""] = local.split(" ");
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return local;
  const words = new Intl.DateTimeFormat(i18next.language === "sv" ? "sv-SE" : "en-GB", {
    weekday: "short",
    day: "numeric",
    month: "short",
    year: "numeric",
    timeZone: "UTC",
  }).format(date);
  return `${words}, ${time.endsWith(":00") ? time.slice(0, -3) : time} ${zone}`.trim();
}

/** What a change of the clocks does to an occurrence. */
export function noteWords(t: TriggerTexts, note: NonNullable<Firing["notes"]>[number]): string {
  const { written, day, runs } = note;
  return note.kind === "missing" ? t("missing", { written, day, runs }) : t("repeated", { written, day });
}
