import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { ChartNoAxesColumn } from "lucide-react";
import { useMemo, useState } from "react";
import { spacesQuery } from "@/api/queries/spaces";
import { RANGES, type Range, type RunStatistics, statisticsQuery } from "@/api/queries/statistics";
import { HealthParts } from "@/components/health/HealthParts";
import { Page } from "@/components/page";
import { Chip, EmptyState, Problem, Segments, Select, Skeleton } from "@/components/ui";
import { number } from "@/lib/i18n/format";
import { Chart } from "./Chart";
import { chartsOf } from "./charts";
import { NeedsAttention } from "./NeedsAttention";
import { Tables } from "./Tables";
import { Tiles } from "./Tiles";
import { useObserveTexts } from "./texts";

const EVERY_SPACE = "*";
const isRange = (value: string | undefined): value is Range => RANGES.includes(value as Range);

/** How runs go: how many, how long, what they cost, what fails. */
export function ObservePage() {
  const t = useObserveTexts();
  const { days } = useSearch({ strict: false });
  const range: Range = isRange(days) ? days : "7d";
  const navigate = useNavigate();
  const spaces = useQuery(spacesQuery).data ?? [];
  const [space, setSpace] = useState(EVERY_SPACE);
  const found = useQuery(statisticsQuery(range, space === EVERY_SPACE ? null : space));
  return (
    <Page
      title={t("observe")}
      actions={
        <>
          {found.data && (
            <>
              <Chip tone={found.data.queued > 0 ? "info" : "neutral"}>
                {t("queued", { count: number(found.data.queued) })}
              </Chip>
              <Chip tone={found.data.running > 0 ? "info" : "neutral"}>
                {t("running", { count: number(found.data.running) })}
              </Chip>
              {found.data.waiting > 0 && <Chip>{t("waiting", { count: number(found.data.waiting) })}</Chip>}
              {found.data.paused > 0 && <Chip>{t("paused", { count: number(found.data.paused) })}</Chip>}
            </>
          )}
          {spaces.length > 1 && (
            <Select
              aria-label={t("space")}
              className="w-44"
              value={space}
              options={[
                { value: EVERY_SPACE, label: t("every_space") },
                ...spaces.map(({ id, name }) => ({ value: id, label: name })),
              ]}
              onChange={setSpace}
            />
          )}
          <Segments
            aria-label={t("range")}
            value={range}
            options={RANGES.map((one) => ({ value: one, label: t(`range_${one}`) }))}
            onChange={(next) => void navigate({ to: "/observe", search: { days: next } })}
          />
        </>
      }
    >
      <NeedsAttention space={space === EVERY_SPACE ? null : space} />
      {found.isError && <Problem error={found.error} retry={() => void found.refetch()} />}
      {found.isPending && <Waiting />}
      {found.data && <Figures figures={found.data} />}
      <section aria-label={t("health")} className="flex flex-col gap-2">
        <h2 className="font-semibold">{t("health")}</h2>
        <HealthParts />
      </section>
    </Page>
  );
}

function Waiting() {
  return (
    <>
      <Skeleton className="h-26" />
      <div className="grid gap-4 lg:grid-cols-2">
        <Skeleton className="h-64 lg:col-span-2" />
        <Skeleton className="h-64" />
        <Skeleton className="h-64" />
      </div>
    </>
  );
}

function Figures({ figures }: { figures: RunStatistics }) {
  const t = useObserveTexts();
  const charts = useMemo(
    () =>
      chartsOf(figures, {
        from: t("from"),
        runs: t("runs"),
        failed: t("failed"),
        cost: t("cost"),
        half: t("latency_half"),
        most: t("latency_most"),
      }),
    [figures, t],
  );
  if (figures.now.runs === 0 && figures.before.runs === 0) {
    return (
      <EmptyState icon={<ChartNoAxesColumn />} title={t("no_runs")}>
        {t("no_runs_more")}
      </EmptyState>
    );
  }
  return (
    <>
      <Tiles figures={figures} />
      <div className="grid gap-4 lg:grid-cols-2">
        <div className="min-w-0 lg:col-span-2">
          <Chart title={t("runs_over_time")} data={charts.runs} />
        </div>
        <Chart title={t("cost_over_time")} data={charts.cost} />
        <Chart title={t("latency_over_time")} data={charts.latency} />
      </div>
      <Tables figures={figures} />
    </>
  );
}
