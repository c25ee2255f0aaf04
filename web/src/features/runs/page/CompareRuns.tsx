import { useQueries, useQuery } from "@tanstack/react-query";
import { GitCompare } from "lucide-react";
import { useState } from "react";
import { newestRunsQuery, runCostQuery, runQuery, stepQuery } from "@/api/queries/runs";
import type { RunOut, StepSummary } from "@/api/types";
import { DiffView } from "@/components/diff/DiffView";
import { Button, Chip, cx, Menu, type MenuItem, Problem, Skeleton } from "@/components/ui";
import { ago, dateTime, duration, money, number } from "@/lib/i18n/format";
import { type Pair, pairs } from "../model/compare";
import { useNames } from "../model/useNames";
import { wholeText } from "../step/CompareTab";
import { StateMark } from "../step/StateMark";
import { type RunTextKey, useRunTexts } from "../texts";

/** Chooses the run to compare with. */
export function CompareWith({ run, onChoose }: { run: RunOut; onChoose: (runId: string) => void }) {
  const t = useRunTexts();
  const { data } = useQuery(newestRunsQuery({ flow_id: run.flow_id }, 15));
  const others = (data ?? []).filter((one) => one.id !== run.id);
  const items: MenuItem[] = others.map((one) => ({
    id: one.id,
    label: `${ago(one.created_at)}, ${t(one.status as RunTextKey)}`,
    onSelect: () => onChoose(one.id),
  }));
  return (
    <Menu items={items}>
      <Button icon={<GitCompare />} disabled={others.length === 0}>
        {t("compare_with")}
      </Button>
    </Menu>
  );
}

interface CompareRunsProps {
  mine: RunOut;
  otherId: string;
  onEnd: () => void;
}

/** Two runs side by side: their steps, times, prices, and how the outputs differ. */
export function CompareRuns({ mine, otherId, onEnd }: CompareRunsProps) {
  const t = useRunTexts();
  const { data: other, error } = useQuery(runQuery(otherId));
  const both = pairs(mine.steps, other?.steps ?? []);
  const names = useNames(both.flatMap((pair) => pair.mine ?? pair.theirs ?? []));
  if (error) return <Problem error={error} />;
  if (!other) return <Skeleton className="h-80" />;
  return (
    <section aria-label={t("comparing")} className="flex flex-col gap-3">
      <div className="flex items-center gap-3">
        <h3 className="font-semibold">{t("comparing")}</h3>
        <Button size="sm" className="ml-auto" onClick={onEnd}>
          {t("stop_comparing")}
        </Button>
      </div>
      <div className="grid gap-3 sm:grid-cols-2">
        <About run={mine} title={t("this_run")} />
        <About run={other} title={t("other_run")} />
      </div>
      <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
        {both.map((pair) => (
          <PairRow key={pair.id} pair={pair} name={names[pair.id] ?? pair.label} mine={mine.id} theirs={other.id} />
        ))}
      </ul>
    </section>
  );
}

function About({ run, title }: { run: RunOut; title: string }) {
  const t = useRunTexts();
  const { data: cost } = useQuery(runCostQuery(run.id));
  const tokens = (cost?.total.tokens_input ?? 0) + (cost?.total.tokens_output ?? 0);
  return (
    <div className="rounded-lg border border-line bg-surface px-4 py-3">
      <p className="text-xs text-muted">{title}</p>
      <p className="font-medium">{dateTime(run.created_at)}</p>
      <p className="text-sm text-muted">
        {[
          t(run.status as RunTextKey),
          duration(run.ms),
          t("tokens", { count: number(tokens) }),
          cost?.total.usd == null ? t("ahead_no_price") : money(cost.total.usd),
          t("version", { no: run.version }),
        ].join(" · ")}
      </p>
    </div>
  );
}

function PairRow({ pair, name, mine, theirs }: { pair: Pair; name: string; mine: string; theirs: string }) {
  const t = useRunTexts();
  const [open, setOpen] = useState(false);
  const both = pair.mine?.status === "completed" && pair.theirs?.status === "completed";
  const texts = useQueries({
    queries: (both ? [mine, theirs] : []).map((run) => stepQuery(run, pair.id)),
    combine: (found) => found.flatMap((one) => (one.data ? [wholeText(one.data)] : [])),
  });
  const same = texts.length === 2 ? texts[0] === texts[1] : null;
  return (
    <li>
      <button
        type="button"
        aria-expanded={open}
        disabled={same !== false}
        onClick={() => setOpen(!open)}
        className="grid w-full grid-cols-[1fr_auto] items-center gap-x-3 gap-y-1 px-4 py-2 text-left enabled:hover:bg-hover sm:grid-cols-[1fr_7rem_7rem_8rem_8rem]"
      >
        <span className="truncate font-medium">{name}</span>
        <Side step={pair.mine} />
        <Side step={pair.theirs} />
        <span
          className={cx("text-xs tabular-nums", pair.slower !== null && pair.slower > 0 ? "text-warn" : "text-muted")}
        >
          {pair.slower !== null &&
            Math.abs(pair.slower) >= 1 &&
            t(pair.slower > 0 ? "slower" : "faster", { time: duration(Math.abs(pair.slower)) })}
        </span>
        <span className="justify-self-end">
          {!pair.mine && <Chip>{t("only_there")}</Chip>}
          {!pair.theirs && <Chip>{t("only_here")}</Chip>}
          {same !== null && <Chip tone={same ? "neutral" : "info"}>{t(same ? "same_output" : "changed_output")}</Chip>}
        </span>
      </button>
      {open && same === false && (
        <div className="px-4 pb-3">
          <DiffView before={texts[1] ?? ""} after={texts[0] ?? ""} label={`${t("difference")}: ${name}`} />
        </div>
      )}
    </li>
  );
}

function Side({ step }: { step: StepSummary | null }) {
  return (
    <span className="flex items-center gap-2 text-xs text-muted tabular-nums">
      {step && (
        <StateMark status={step.status} pinned={step.pinned ?? false} reused={Boolean(step.reused_from_run_id)} />
      )}
      {step && !step.pinned && duration(step.ms)}
    </span>
  );
}
