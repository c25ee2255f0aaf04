import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Occurrence, occurrencesQuery } from "@/api/queries/triggers";
import { Chip, Problem, Skeleton, type Tone } from "@/components/ui";
import { dateTime } from "@/lib/i18n/format";
import { useTriggerTexts } from "../texts";

const TONES: Record<Occurrence["status"], Tone> = {
  started: "ok",
  queued: "info",
  skipped: "warn",
  cancelled: "neutral",
};

/** The newest due times and events of a trigger: the run of each, or why there is none. */
export function OccurrenceList({ triggerId, flowId }: { triggerId: string; flowId: string }) {
  const t = useTriggerTexts();
  const occurrences = useQuery(occurrencesQuery(triggerId));
  if (occurrences.isError) return <Problem error={occurrences.error} retry={() => void occurrences.refetch()} />;
  if (occurrences.isPending) return <Skeleton className="h-16" />;
  if (occurrences.data.length === 0) return <p className="text-sm text-muted">{t("no_occurrences")}</p>;
  return (
    <ol className="flex max-h-72 flex-col divide-y divide-line overflow-y-auto text-sm">
      {occurrences.data.map((row) => (
        <li key={row.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
          <time dateTime={row.created_at} className="text-muted tabular-nums">
            {dateTime(row.due_at ?? row.created_at)}
          </time>
          <Chip tone={TONES[row.status]}>{t(row.status)}</Chip>
          {row.message && <span className="min-w-0 flex-1 basis-48 text-muted wrap-anywhere">{row.message}</span>}
          {row.run_id &&
            (row.run_status ? (
              <Link
                to="/flows/$flowId/runs/$runId"
                params={{ flowId, runId: row.run_id }}
                className="ml-auto font-medium text-accent hover:underline"
              >
                {t("open_run")}
              </Link>
            ) : (
              <span className="ml-auto text-faint">{t("run_deleted")}</span>
            ))}
        </li>
      ))}
    </ol>
  );
}
