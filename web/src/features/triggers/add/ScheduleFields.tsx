import { useQuery } from "@tanstack/react-query";
import { previewQuery } from "@/api/queries/triggers";
import { Field, Input, Problem, Select } from "@/components/ui";
import { FiringList } from "../detail/FiringList";
import { REPEATS, type ScheduleDraft, scheduleOf, WEEKDAYS } from "../model/schedule";
import { triggerWords, weekdayName } from "../model/words";
import { useTriggerTexts } from "../texts";
import { BusinessDays } from "./BusinessDays";

const ZONES = ["UTC", ...Intl.supportedValuesOf("timeZone")];

interface Props {
  draft: ScheduleDraft;
  onChange: (draft: ScheduleDraft) => void;
}

/** When a schedule fires: the repetition, its time and zone, and what it comes to. */
export function ScheduleFields({ draft, onChange }: Props) {
  const t = useTriggerTexts();
  const set = (changes: Partial<ScheduleDraft>) => onChange({ ...draft, ...changes });
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t("repeat")}>
          {(control) => (
            <Select
              {...control}
              value={draft.repeat}
              options={REPEATS.map((value) => ({ value, label: t(`repeat_${value}`) }))}
              onChange={(repeat) => set({ repeat })}
            />
          )}
        </Field>
        <Timing draft={draft} set={set} />
        {draft.repeat !== "interval" && (
          <Field label={t("zone")}>
            {(control) => (
              <>
                <Input
                  {...control}
                  list="zones"
                  value={draft.zone}
                  onChange={(event) => set({ zone: event.target.value })}
                />
                <datalist id="zones">
                  {ZONES.map((zone) => (
                    <option key={zone} value={zone} />
                  ))}
                </datalist>
              </>
            )}
          </Field>
        )}
        {draft.repeat !== "interval" && <BusinessDays draft={draft} set={set} />}
      </div>
      <Preview draft={draft} />
    </>
  );
}

function Timing({ draft, set }: { draft: ScheduleDraft; set: (changes: Partial<ScheduleDraft>) => void }) {
  const t = useTriggerTexts();
  const { repeat } = draft;
  if (repeat === "cron") {
    return (
      <Field label={t("cron")} help={t("cron_help")}>
        {(control) => (
          <Input
            {...control}
            value={draft.cron}
            placeholder="0 7 * * MON-FRI"
            className="font-mono"
            onChange={(event) => set({ cron: event.target.value })}
          />
        )}
      </Field>
    );
  }
  if (repeat === "interval")
    return <NumberField label={t("every_minutes")} value={draft.minutes} on={(minutes) => set({ minutes })} />;
  if (repeat === "hourly")
    return <NumberField label={t("minute")} value={draft.minute} on={(minute) => set({ minute })} />;
  return (
    <>
      {repeat === "weekly" && (
        <Field label={t("weekday")}>
          {(control) => (
            <Select
              {...control}
              value={draft.weekday}
              options={WEEKDAYS.map((value) => ({ value, label: weekdayName(value) }))}
              onChange={(weekday) => set({ weekday })}
            />
          )}
        </Field>
      )}
      {(repeat === "monthly" || repeat === "nearest") && (
        <NumberField label={t("month_day")} value={draft.day} on={(day) => set({ day })} />
      )}
      <Field label={t("at")}>
        {(control) => (
          <Input {...control} type="time" value={draft.time} onChange={(event) => set({ time: event.target.value })} />
        )}
      </Field>
    </>
  );
}

function NumberField({ label, value, on }: { label: string; value: string; on: (value: string) => void }) {
  return (
    <Field label={label}>
      {(control) => (
        <Input {...control} inputMode="numeric" value={value} onChange={(event) => on(event.target.value)} />
      )}
    </Field>
  );
}

function Preview({ draft }: { draft: ScheduleDraft }) {
  const t = useTriggerTexts();
  const config = scheduleOf(draft);
  const preview = useQuery({ ...previewQuery(config ?? { kind: "manual" }), enabled: config !== null });
  if (!config) return null;
  if (preview.isError) return <Problem error={preview.error} />;
  return (
    <section aria-label={t("next_firings")} className="rounded-md border border-line bg-sunken p-3">
      <p className="mb-2 font-medium text-sm">{triggerWords(t, { config })}</p>
      {preview.data && <FiringList firings={preview.data.next} />}
    </section>
  );
}
