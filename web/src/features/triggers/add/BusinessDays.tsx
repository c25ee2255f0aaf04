import { useRef } from "react";
import { holidaysOf } from "@/api/queries/triggers";
import { Button, Field, Select } from "@/components/ui";
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
    </>
  );
}
