import { useRef } from "react";
import { holidaysAt, holidaysOf } from "@/api/queries/triggers";
import { Button, Field, Input, Problem, Select } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { DAYS, type ScheduleDraft, scheduleOf } from "../model/schedule";
import { useTriggerTexts } from "../texts";

interface Props {
  draft: ScheduleDraft;
  set: (changes: Partial<ScheduleDraft>) => void;
}

/** What a schedule does on weekends and holidays, and the calendar file that names the holidays. */
export function BusinessDays({ draft, set }: Props) {
  const t = useTriggerTexts();
  const chooser = useRef<HTMLInputElement>(null);
  const read = useChange({
    change: async (file: File) => {
      const config = scheduleOf({ ...draft, repeat: "daily", time: "00:00", holidays: [] });
      if (config) set({ holidays: await holidaysOf(config, await file.text()) });
    },
    touches: [],
    failed: t("holidays_failed"),
  });
  const check = useChange({
    change: async () => {
      const config = scheduleOf({ ...draft, repeat: "daily", time: "00:00", holidays: [] });
      return config ? (await holidaysAt(config)).length : 0;
    },
    touches: [],
  });
  return (
    <>
      <Field label={t("days")}>
        {(control) => (
          <Select
            {...control}
            value={draft.days}
            options={DAYS.map((value) => ({ value, label: t(`days_${value}`) }))}
            onChange={(days) => set({ days })}
          />
        )}
      </Field>
      {draft.days !== "every" && (
        <Field label={t("holidays")} help={t("holidays_help")}>
          {(control) => (
            <div className="flex flex-wrap items-center gap-2 text-sm">
              <input
                ref={chooser}
                type="file"
                accept=".ics,text/calendar"
                hidden
                aria-label={t("holidays_choose")}
                onChange={(event) => {
                  const file = event.target.files?.[0];
                  event.target.value = "";
                  if (file) read.mutate(file);
                }}
              />
              <Button id={control.id} size="sm" busy={read.isPending} onClick={() => chooser.current?.click()}>
                {t("holidays_choose")}
              </Button>
              <span>{t("holidays_count", { count: draft.holidays.length })}</span>
              {draft.holidays.length > 0 && (
                <Button size="sm" kind="ghost" onClick={() => set({ holidays: [] })}>
                  {t("holidays_remove")}
                </Button>
              )}
            </div>
          )}
        </Field>
      )}
      {draft.days !== "every" && (
        <div className="flex flex-col gap-1.5 sm:col-span-2">
          <Field label={t("calendar_url")} help={t("calendar_url_help")}>
            {(control) => (
              <div className="flex gap-1.5">
                <Input
                  {...control}
                  type="url"
                  placeholder="https://"
                  value={draft.calendarUrl}
                  onChange={(event) => set({ calendarUrl: event.target.value })}
                />
                <Button disabled={!draft.calendarUrl.trim()} busy={check.isPending} onClick={() => check.mutate()}>
                  {t("calendar_check")}
                </Button>
              </div>
            )}
          </Field>
          {check.isError && <Problem error={check.error} />}
          {check.isSuccess && <p className="text-sm">{t("holidays_count", { count: check.data })}</p>}
        </div>
      )}
    </>
  );
}
