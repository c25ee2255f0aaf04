import type { TriggerConfig } from "@/api/queries/triggers";

export const REPEATS = ["weekdays", "daily", "weekly", "monthly", "nearest", "hourly", "interval", "cron"] as const;
export type Repeat = (typeof REPEATS)[number];
export const WEEKDAYS = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"] as const;
export const DAYS = ["every", "business", "next_business"] as const;
export type Days = (typeof DAYS)[number];
export type Weekday = (typeof WEEKDAYS)[number];

/** A schedule as it is written in the form. */
export interface ScheduleDraft {
  repeat: Repeat;
  time: string;
  weekday: Weekday;
  day: string;
  minute: string;
  minutes: string;
  cron: string;
  zone: string;
  days: Days;
  /** Dates, such as 2027-12-24. */
  holidays: string[];
  /** Of a calendar that is read every day. */
  calendarUrl: string;
}

export function newSchedule(): ScheduleDraft {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
  const timing = { time: "07:00", weekday: "MON", day: "1", minute: "0", minutes: "15", cron: "" } as const;
  return { repeat: "weekdays", ...timing, zone, days: "every", holidays: [], calendarUrl: "" };
}

type Schedule = Extract<TriggerConfig, { kind?: "schedule" }>;

/** What the server stores; null while something is missing. */
export function scheduleOf(draft: ScheduleDraft): Schedule | null {
  if (draft.repeat === "interval") {
    const minutes = Number(draft.minutes);
    return Number.isFinite(minutes) && minutes > 0
      ? schedule(
          { every_seconds: Math.round(minutes * 60) },
          { zone: draft.zone, days: "every", holidays: [], calendarUrl: "" },
        )
      : null;
  }
  const cron = cronOf(draft);
  return cron && draft.zone.trim() ? schedule({ cron }, draft) : null;
}

function schedule(
  timing: { cron?: string; every_seconds?: number },
  { zone, days, holidays, calendarUrl }: Pick<ScheduleDraft, "zone" | "days" | "holidays" | "calendarUrl">,
): Schedule {
  const calendar_url = (days !== "every" && calendarUrl.trim()) || null;
  return { kind: "schedule", time_zone: zone.trim(), jitter_seconds: 0, days, holidays, calendar_url, ...timing };
}

/** The cron expression of a repetition; empty while something is missing. */
export function cronOf(draft: ScheduleDraft): string {
  if (draft.repeat === "cron") return draft.cron.trim();
  if (draft.repeat === "hourly") return inRange(draft.minute, 0, 59) ? `${Number(draft.minute)} * * * *` : "";
  const time = /^(\d\d):(\d\d)$/.exec(draft.time);
  if (!time) return "";
  const at = `${Number(time[2])} ${Number(time[1])}`;
  if (draft.repeat === "weekdays") return `${at} * * MON-FRI`;
  if (draft.repeat === "weekly") return `${at} * * ${draft.weekday}`;
  if (draft.repeat === "monthly" || draft.repeat === "nearest") {
    const nearest = draft.repeat === "nearest" ? "W" : "";
    return inRange(draft.day, 1, 31) ? `${at} ${Number(draft.day)}${nearest} * *` : "";
  }
  return `${at} * * *`;
}

const inRange = (text: string, least: number, most: number) =>
  /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most;

/** A cron expression that the form can make, taken apart; null for any other. */
export function repeatOf(cron: string): { repeat: Repeat; time: string; day: string; minute: string } | null {
  const match = /^(\d{1,2}) (\d{1,2}|\*) (\d{1,2}W?|\*) \* (1-5|MON-FRI|[0-7]|MON|TUE|WED|THU|FRI|SAT|SUN|\*)$/i.exec(
    cron,
  );
  if (!match) return null;
  const [, minute = "", hour = "", day = ""] = match;
  const weekday = named(match[4] ?? "");
  const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  if (hour === "*") return day === "*" && weekday === "*" ? { repeat: "hourly", time, day, minute } : null;
  if (day !== "*" && weekday !== "*") return null;
  if (/w$/i.test(day)) return { repeat: "nearest", time, day: day.slice(0, -1), minute };
  if (day !== "*") return { repeat: "monthly", time, day, minute };
  if (weekday === "MON-FRI") return { repeat: "weekdays", time, day: weekday, minute };
  return { repeat: weekday === "*" ? "daily" : "weekly", time, day: weekday, minute };
}

/** A day of the week in a cron expression by its name; 0 and 7 are Sunday. */
function named(weekday: string): string {
  if (weekday === "1-5") return "MON-FRI";
  return /^\d$/.test(weekday) ? (WEEKDAYS[(Number(weekday) + 6) % 7] ?? "") : weekday.toUpperCase();
}
