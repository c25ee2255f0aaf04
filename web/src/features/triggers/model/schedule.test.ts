import { describe, expect, it } from "vitest";
import { cronOf, newSchedule, repeatOf, type ScheduleDraft, scheduleOf } from "./schedule";

const draft = (changes: Partial<ScheduleDraft>): ScheduleDraft => ({ ...newSchedule(), zone: "UTC", ...changes });

describe("a schedule of the form", () => {
  it.each([
    [{ repeat: "weekdays", time: "07:05" }, "5 7 * * MON-FRI"],
    [{ repeat: "daily", time: "00:00" }, "0 0 * * *"],
    [{ repeat: "weekly", time: "18:30", weekday: "SUN" }, "30 18 * * SUN"],
    [{ repeat: "monthly", time: "06:00", day: "31" }, "0 6 31 * *"],
    [{ repeat: "nearest", time: "06:00", day: "15" }, "0 6 15W * *"],
    [{ repeat: "hourly", minute: "15" }, "15 * * * *"],
    [{ repeat: "cron", cron: " 0 0 L * * " }, "0 0 L * *"],
  ] as const)("%o is the cron expression %s", (changes, cron) => {
    expect(cronOf(draft(changes))).toBe(cron);
    expect(scheduleOf(draft(changes))).toMatchObject({ kind: "schedule", cron, time_zone: "UTC" });
  });

  it.each([
    { repeat: "daily", time: "" },
    { repeat: "monthly", day: "32" },
    { repeat: "monthly", day: "first" },
    { repeat: "nearest", day: "0" },
    { repeat: "hourly", minute: "60" },
    { repeat: "cron", cron: " " },
    { repeat: "interval", minutes: "0" },
    { repeat: "interval", minutes: "often" },
    { repeat: "daily", zone: " " },
  ] as const)("%o is not complete", (changes) => {
    expect(scheduleOf(draft(changes))).toBeNull();
  });

  it("is an interval in seconds", () => {
    expect(scheduleOf(draft({ repeat: "interval", minutes: "1.5" }))).toMatchObject({ every_seconds: 90 });
  });

  it.each(["5 7 * * MON-FRI", "0 0 * * *", "30 18 * * SUN", "0 6 31 * *", "0 6 15W * *", "15 * * * *"])(
    "%s is recognised",
    (cron) => {
      const known = repeatOf(cron);
      expect(known).not.toBeNull();
      const { repeat, time, day, minute } = known as NonNullable<typeof known>;
      const weekday = repeat === "weekly" ? (day as ScheduleDraft["weekday"]) : "MON";
      expect(cronOf(draft({ repeat, time, day, minute, weekday }))).toBe(cron);
    },
  );

  it.each([
    ["0 7 * * 1", "0 7 * * MON"],
    ["0 7 * * 0", "0 7 * * SUN"],
    ["0 7 * * 7", "0 7 * * SUN"],
    ["0 7 * * 1-5", "0 7 * * MON-FRI"],
    ["0 7 * * fri", "0 7 * * FRI"],
    ["0 6 15w * *", "0 6 15W * *"],
  ])("%s is the same as %s", (written, named) => {
    expect(repeatOf(written)).toEqual(repeatOf(named));
    expect(repeatOf(written)).not.toBeNull();
  });

  it.each(["0 0 L * *", "*/5 * * * *", "0 7 1 * MON", "0 7 1W * MON", "0 * 1W * *", "0 0 12 * * *", "0 7 * 1 *"])(
    "%s is shown as it is",
    (cron) => {
      expect(repeatOf(cron)).toBeNull();
    },
  );
});
