import { expect, test } from "vitest";
import { dateTime } from "@/lib/i18n/format";
import { localWords, triggerWords, zoneOf } from "./words";

const cron = { kind: "schedule", cron: "0 8 * * MON-FRI", time_zone: "Asia/Tokyo" } as const;

test("the next start of a schedule is shown in the time zone of its schedule", () => {
  const zone = zoneOf({ config: cron as never });
  expect(zone).toBe("Asia/Tokyo");
  expect(dateTime("2026-11-29T23:00:00Z", zone)).toContain("08:00");
});

test("an interval has the time zone of the browser", () => {
  expect(zoneOf({ config: { kind: "schedule", every_seconds: 60, time_zone: "Asia/Tokyo" } as never })).toBeUndefined();
});

test("a due time is read as a day and a time in the zone of its schedule", () => {
  expect(localWords("2026-11-30 07:00:00 CET")).toBe("Mon, 30 Nov 2026, 07:00 CET");
  expect(localWords("2026-11-30 07:00:30 UTC")).toContain("07:00:30 UTC");
  expect(localWords("soon")).toBe("soon");
});

test("a cron expression is put into words where the page has some", () => {
  const t = ((key: string, values?: object) => `${key} ${JSON.stringify(values ?? {})}`) as never;
  const said = (expression: string) => triggerWords(t, { config: { kind: "schedule", cron: expression } as never });
  expect(said("*/15 * * * *")).toContain('words_minutes {\\"amount\\":15}');
  expect(said("*/7 * * * *")).toContain("words_cron");
  expect(said("0 7 * * 1")).toContain("words_weekly");
});
