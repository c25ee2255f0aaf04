import type { Firing } from "@/api/queries/triggers";
import { Chip } from "@/components/ui";
import { localWords, noteWords } from "../model/words";
import { useTriggerTexts } from "../texts";

/** Future occurrences in the time zone of their schedule, with the nights on which clocks change. */
export function FiringList({ firings }: { firings: readonly Firing[] }) {
  const t = useTriggerTexts();
  if (firings.length === 0) return <p className="text-sm text-muted">{t("no_firings")}</p>;
  return (
    <ol className="flex flex-col gap-1 text-sm">
      {firings.map((firing) => (
        <li key={firing.due_at} className="flex flex-wrap items-center gap-2">
          <time dateTime={firing.due_at} className="tabular-nums">
            {localWords(firing.local)}
          </time>
          {(firing.notes ?? []).map((note) => (
            <Chip key={note.text} tone="warn">
              {noteWords(t, note)}
            </Chip>
          ))}
        </li>
      ))}
    </ol>
  );
}
