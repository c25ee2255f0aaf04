import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Gauge } from "lucide-react";
import { removeSlo, type Slo, sloKeys, sloQuery } from "@/api/queries/slos";
import { useRights } from "@/api/rights";
import { ManagedRow } from "@/components/ManagedRow";
import { Chip, Problem, Skeleton, type Tone } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { duration, number } from "@/lib/i18n/format";
import { Chart } from "../Chart";
import { SloDialog } from "./SloDialog";
import { type SloTexts, useSloTexts } from "./texts";

const SPANS = ["minutes_5", "minutes_30", "hour_1", "hours_6", "days_3"] as const;
/** The burn rates at which the alert rules fire. */
const LIMITS: Record<(typeof SPANS)[number], number> = {
  minutes_5: 14.4,
  hour_1: 14.4,
  minutes_30: 6,
  hours_6: 6,
  days_3: 1,
};

/** A service level in a list: its target, what is left of its error budget, and on request how that went. */
export function SloItem({ slo, ofFlow }: { slo: Slo; ofFlow: boolean }) {
  const t = useSloTexts();
  const { may } = useRights();
  const remove = useChange({ change: () => removeSlo(slo.id), touches: [sloKeys.all], failed: t("failed") });
  const attained =
    slo.attained === null
      ? t("no_runs")
      : t("attained", { attained: number(slo.attained, 3), count: number(slo.total) });
  return (
    <ManagedRow
      name={slo.name}
      t={t}
      icon={<Gauge aria-hidden className={slo.budget_left < 0 ? "text-bad" : undefined} />}
      manages={may("alerts.manage", slo.space_id)}
      title={
        <>
          <Chip tone={toneOf(slo)}>{t("left", { percent: number(slo.budget_left, 1) })}</Chip>
          {!ofFlow && (
            <Link
              to="/flows/$flowId"
              params={{ flowId: slo.flow_id }}
              className="font-normal text-accent text-sm hover:underline"
            >
              {slo.flow_name}
            </Link>
          )}
        </>
      }
      detail={
        <>
          {sloWords(t, slo)} · {attained}
          <BurnRates slo={slo} />
        </>
      }
      removal={remove}
      editor={(onClose) => <SloDialog slo={slo} onClose={onClose} />}
      more={() => <Budget id={slo.id} />}
    />
  );
}

const toneOf = ({ budget_left }: Slo): Tone => (budget_left < 0 ? "bad" : budget_left < 25 ? "warn" : "ok");

const sloWords = (t: SloTexts, slo: Slo) =>
  t(`words_${slo.kind}`, {
    target: number(slo.target, 3),
    days: slo.window_days,
    seconds: duration((slo.seconds ?? 0) * 1000),
  });

function BurnRates({ slo }: { slo: Slo }) {
  const t = useSloTexts();
  return (
    <span className="flex flex-wrap gap-x-3" title={t("burn_help")}>
      <span>{t("burn")}</span>
      {SPANS.map((span) => {
        const rate = slo.burn[span];
        return (
          <span key={span} className="tabular-nums">
            {t(span)}{" "}
            <span className={rate !== null && rate >= LIMITS[span] ? "font-medium text-bad" : "text-fg"}>
              {rate === null ? "–" : number(rate, 1)}
            </span>
          </span>
        );
      })}
    </span>
  );
}

function Budget({ id }: { id: string }) {
  const t = useSloTexts();
  const { data, error, refetch } = useQuery(sloQuery(id));
  if (error) return <Problem error={error} retry={() => void refetch()} />;
  if (!data) return <Skeleton className="mt-3 h-52" />;
  const percent = (value: number | null | undefined) =>
    value === null || value === undefined ? "–" : `${number(value, 1)} %`;
  return (
    <div className="mt-3">
      <Chart
        title={t("budget_over_time")}
        data={{
          at: data.parts.map((part) => new Date(part.at).getTime() / 1000),
          from: t("from"),
          shape: "lines",
          show: percent,
          lines: [
            { label: t("budget"), colour: "accent", values: data.parts.map((part) => part.budget_left) },
            {
              label: t("attained_in"),
              colour: "info",
              values: data.parts.map((part) => (part.total ? (100 * part.good) / part.total : null)),
            },
          ],
        }}
      />
    </div>
  );
}
