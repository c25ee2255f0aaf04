import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { triggerStatisticsQuery } from "@/api/queries/triggers";
import { Problem, Skeleton } from "@/components/ui";
import { duration, number } from "@/lib/i18n/format";
import { useTriggerTexts } from "../texts";

const DAYS = 7;

/** What a trigger started and skipped in the last days, and how late it was. */
export function TriggerFigures({ triggerId }: { triggerId: string }) {
  const t = useTriggerTexts();
  const { data, error, refetch } = useQuery(triggerStatisticsQuery(triggerId, DAYS));
  if (error) return <Problem error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton className="h-16" />;
  const { started, completed, failed, queued, cancelled, skipped, lateness } = data;
  const figures = [
    [t("figure_started"), number(started)],
    [t("figure_completed"), number(completed)],
    [t("figure_failed"), number(failed)],
    ...(queued ? [[t("queued"), number(queued)]] : []),
    ...(cancelled ? [[t("cancelled"), number(cancelled)]] : []),
    ...skipped.map(({ reason, occurrences }) => [t("figure_skipped", { reason }), number(occurrences)]),
    ...(lateness
      ? [
          [t("figure_late"), duration(lateness.p50_seconds * 1000)],
          [t("figure_late_most"), duration(lateness.p95_seconds * 1000)],
        ]
      : []),
  ];
  return (
    <>
      <dl className="flex flex-wrap gap-x-6 gap-y-2 text-sm">
        {figures.map(([name, value]) => (
          <div key={name} className="flex flex-col">
            <dt className="text-muted">{name}</dt>
            <dd className="font-medium tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
      <Link
        to="/runs"
        search={{ trigger: triggerId }}
        className="self-start font-medium text-accent text-sm hover:underline"
      >
        {t("its_runs")}
      </Link>
    </>
  );
}
