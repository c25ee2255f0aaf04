import { useQuery } from "@tanstack/react-query";
import { runCostQuery } from "@/api/queries/runs";
import { StateChip } from "@/components/ui";
import { duration, money, number } from "@/lib/i18n/format";
import { isOver, type LiveRun } from "../model/live";
import { type RunTextKey, useRunTexts } from "../texts";
import { Ticking } from "./Ticking";

/** A run's state, time, tokens and price in one line. */
export function RunFigures({ live }: { live: LiveRun }) {
  const t = useRunTexts();
  const over = isOver(live.status);
  const cost = useQuery({ ...runCostQuery(live.id), enabled: over });
  const own = Object.values(live.steps).filter((step) => !step.reused && !step.pinned);
  const tokens = own.reduce((sum, step) => sum + (step.tokens ?? 0), 0);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
      <StateChip state={live.status} label={t(live.status as RunTextKey)} />
      <span>{over ? live.ms !== null && duration(live.ms) : <Ticking since={live.startedAt} />}</span>
      {tokens > 0 && <span>{t("tokens", { count: number(tokens) })}</span>}
      {over && tokens > 0 && cost.data && (
        <span>{cost.data.total.usd === null ? t("ahead_no_price") : money(cost.data.total.usd)}</span>
      )}
    </div>
  );
}
