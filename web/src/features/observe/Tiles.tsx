import type { RunStatistics } from "@/api/queries/statistics";
import { cx } from "@/components/ui";
import { duration, money, number } from "@/lib/i18n/format";
import { type Change, changeOf, successRate } from "./change";
import { useObserveTexts } from "./texts";

/** The figures of the whole time, each beside the time before. */
export function Tiles({ figures: { now, before } }: { figures: RunStatistics }) {
  const t = useObserveTexts();
  const rate = successRate(now);
  const tiles = [
    { id: "runs", value: number(now.runs), change: changeOf(now.runs, before.runs, "neutral") },
    {
      id: "success",
      value: rate === null ? "–" : `${number(rate * 100, 1)} %`,
      change: changeOf(rate, successRate(before), "higher"),
    },
    { id: "latency_most", value: duration(now.p95_ms), change: changeOf(now.p95_ms, before.p95_ms, "lower") },
    {
      id: "cost",
      value: money(now.spent.usd),
      change: changeOf(now.spent.usd, before.spent.usd, "lower"),
      note: now.spent.unpriced > 0 ? t("unpriced", { count: now.spent.unpriced }) : undefined,
    },
    {
      id: "tokens",
      value: number(now.spent.tokens_input + now.spent.tokens_output),
      change: changeOf(
        now.spent.tokens_input + now.spent.tokens_output,
        before.spent.tokens_input + before.spent.tokens_output,
        "neutral",
      ),
    },
    { id: "retries", value: number(now.retries), change: changeOf(now.retries, before.retries, "lower") },
  ] as const;
  return (
    <dl className="grid grid-cols-2 gap-3 sm:grid-cols-3 xl:grid-cols-6">
      {tiles.map(({ id, value, change, ...more }) => (
        <div key={id} className="flex flex-col rounded-lg border border-line bg-surface px-4 py-3">
          <dt className="text-sm text-muted">{t(id)}</dt>
          <dd className="text-2xl font-semibold tabular-nums">{value}</dd>
          <dd className="min-h-5 text-xs text-muted">
            {(change.percent !== null || id === "runs") && <Changed {...change} />}
            {"note" in more && more.note && <span className="block">{more.note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

const TONES = { good: "text-ok", bad: "text-bad", same: "" };

function Changed({ percent, tone }: Change) {
  const t = useObserveTexts();
  if (percent === null) return <>{t("nothing_before")}</>;
  return (
    <span className={cx(TONES[tone])}>{t(percent >= 0 ? "more" : "less", { percent: number(Math.abs(percent)) })}</span>
  );
}
