import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { relationsQuery, stepQuery } from "@/api/queries/runs";
import type { StartedRunsOut, StepOut } from "@/api/types";
import { Markdown } from "@/components/markdown/Markdown";
import { Callout, ClassChip, Problem, Segments, Skeleton, StateChip } from "@/components/ui";
import { dateTime, duration, number } from "@/lib/i18n/format";
import type { LiveStep } from "../model/live";
import { type RunTextKey, useRunTexts } from "../texts";
import { CompareTab } from "./CompareTab";
import { OutsideChips } from "./OutsideChips";
import { StartedRuns } from "./StartedRuns";
import { StepActions } from "./StepActions";
import { AttemptsTab, DeliveryTab, InputTab, LogTab, OutputTab, PromptTab, ToolsTab } from "./tabs";

type Tab = "output" | "started_runs" | "input" | "prompt" | "log" | "tools" | "attempts" | "delivery" | "compare";

/** One step of a run with everything it left. */
export function StepView({ runId, live }: { runId: string; live: LiveStep }) {
  const t = useRunTexts();
  const [tab, setTab] = useState<Tab>();
  const settled = live.status !== "pending" && live.status !== "running";
  const { data, error, refetch } = useQuery(stepQuery(runId, live.id, `${live.status} ${live.attempt}`));
  const { data: relations } = useQuery(relationsQuery(runId, live.below));
  const started = relations?.steps.find((counts) => counts.step_id === live.id);
  const tabs = data ? tabsOf(data, started) : (["output"] as Tab[]);
  // Before a step has an output, the runs that it started say most.
  const shown = tab && tabs.includes(tab) ? tab : started && !data?.output ? "started_runs" : "output";
  const missed = missesOf(data);
  return (
    <div className="flex flex-col gap-4">
      <Figures live={live} step={data} />
      <StepActions step={data} settled={settled} />
      {live.pinned && <Callout>{t("was_pinned")}</Callout>}
      {live.reused && <Callout>{t("taken_over")}</Callout>}
      {live.error && <ErrorNote live={live} />}
      {missed.length > 0 && (
        <Callout tone="warn" title={t("fell_back", { model: modelOf(data), failed: missed.map(nameOf).join(", ") })}>
          {missed.map((one) => one.message).join(" ")}
        </Callout>
      )}
      {error && <Problem error={error} retry={() => void refetch()} />}
      {!data && !error && <Skeleton className="h-40" />}
      {data && (
        <>
          {tabs.length > 1 && (
            <div className="-mx-1 overflow-x-auto px-1 py-0.5">
              <Segments
                size="sm"
                aria-label={t("details")}
                value={shown}
                onChange={setTab}
                options={tabs.map((one) => ({ value: one, label: t(one) }))}
              />
            </div>
          )}
          <Shown tab={shown} runId={runId} live={live} step={data} started={started} />
        </>
      )}
    </div>
  );
}

/** Why a step failed, what it waits for after a failure, or that its run continued in spite of it. */
function ErrorNote({ live }: { live: LiveStep }) {
  const t = useRunTexts();
  if (live.retry && live.until) {
    const title = t("retry_at", { ...live.retry, when: dateTime(live.until), error: live.error });
    return <Callout tone="warn" title={title} />;
  }
  const continued = live.status === "completed";
  return (
    <Callout tone={continued ? "warn" : "bad"} title={t(continued ? "failed_continued" : "failed")}>
      {live.error}
    </Callout>
  );
}

function Figures({ live, step }: { live: LiveStep; step: StepOut | undefined }) {
  const t = useRunTexts();
  const model = modelOf(step);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
      <StateChip state={live.status} label={t(live.status as RunTextKey)} />
      {live.ms !== null && !live.pinned && <span>{duration(live.ms)}</span>}
      {step?.tokens_input != null && (
        <span>{t("tokens_in_out", { input: number(step.tokens_input), output: number(step.tokens_output ?? 0) })}</span>
      )}
      {step?.classification && <ClassChip level={step.classification.level} />}
      {step?.outside_content && <OutsideChips sources={step.outside_content} />}
      {step?.started_at && !live.pinned && <span>{dateTime(step.started_at)}</span>}
      {model && <span className="font-mono text-xs">{model}</span>}
    </div>
  );
}

interface ShownProps {
  tab: Tab;
  runId: string;
  live: LiveStep;
  step: StepOut;
  started: StartedRunsOut | undefined;
}

function Shown({ tab, runId, live, step, started }: ShownProps) {
  switch (tab) {
    case "output":
      return live.status === "running" && live.preview ? <Markdown text={live.preview} /> : <OutputTab step={step} />;
    case "started_runs":
      return started && <StartedRuns runId={runId} counts={started} />;
    case "input":
      return <InputTab runId={runId} step={step} />;
    case "prompt":
      return <PromptTab step={step} />;
    case "log":
      return <LogTab step={step} />;
    case "tools":
      return <ToolsTab step={step} />;
    case "attempts":
      return <AttemptsTab step={step} />;
    case "delivery":
      return <DeliveryTab runId={runId} step={step} />;
    case "compare":
      return <CompareTab runId={runId} step={step} />;
  }
}

function tabsOf(step: StepOut, started: StartedRunsOut | undefined): Tab[] {
  const found: Tab[] = started ? ["output", "started_runs", "input"] : ["output", "input"];
  if (step.effective_prompt) found.push("prompt");
  if (step.log.length > 0) found.push("log");
  if (step.tool_calls.length > 0) found.push("tools");
  if (step.tries.length > 0) found.push("attempts");
  if (step.delivery) found.push("delivery");
  if (step.output) found.push("compare");
  return found;
}

interface Missed {
  model?: string;
  message?: string;
}

const nameOf = (missed: Missed) => missed.model ?? "";

/** The models of a fallback chain that did not answer, where another one did. */
function missesOf(step: StepOut | undefined): Missed[] {
  const found = step?.model_parameters as { failed?: Missed[] } | null | undefined;
  return step?.status === "completed" && modelOf(step) !== "" ? (found?.failed ?? []) : [];
}

function modelOf(step: StepOut | undefined): string {
  const found = step?.model_parameters as
    | { provider?: string; name?: string; models?: { provider?: string; name?: string }[] }
    | null
    | undefined;
  const models = found?.models ?? (found ? [found] : []);
  return models.map((one) => [one.provider, one.name].filter(Boolean).join("/")).join(", ");
}
