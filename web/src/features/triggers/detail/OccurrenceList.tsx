import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { cancelBackfill, type Occurrence, occurrencesQuery, triggerKeys } from "@/api/queries/triggers";
import { Button, Chip, Problem, Skeleton, type Tone } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { dateTime } from "@/lib/i18n/format";
import { useTriggerTexts } from "../texts";

const TONES: Record<Occurrence["status"], Tone> = {
  started: "ok",
  queued: "info",
  skipped: "warn",
  cancelled: "neutral",
};

interface Props {
  triggerId: string;
  flowId: string;
  manages: boolean;
}

/** The newest due times and events of a trigger: the run of each, or why there is none. */
export function OccurrenceList({ triggerId, flowId, manages }: Props) {
  const t = useTriggerTexts();
  const occurrences = useQuery(occurrencesQuery(triggerId));
  if (occurrences.isError) return <Problem error={occurrences.error} retry={() => void occurrences.refetch()} />;
  if (occurrences.isPending) return <Skeleton className="h-16" />;
  if (occurrences.data.length === 0) return <p className="text-sm text-muted">{t("no_occurrences")}</p>;
  const waiting = occurrences.data.find((row) => row.status === "queued" && row.backfill_id)?.backfill_id;
  return (
    <>
      {manages && waiting && <CancelBackfill triggerId={triggerId} backfillId={waiting} />}
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
    </>
  );
}

function CancelBackfill({ triggerId, backfillId }: { triggerId: string; backfillId: string }) {
  const t = useTriggerTexts();
  const cancel = useChange({
    change: () => cancelBackfill(triggerId, backfillId),
    touches: [triggerKeys.all],
    failed: t("failed"),
  });
  return (
    <Button size="sm" className="self-start" busy={cancel.isPending} onClick={() => cancel.mutate()}>
      {t("backfill_cancel")}
    </Button>
  );
}
