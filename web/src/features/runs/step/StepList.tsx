import { startedWords, useStartedRunsTexts } from "@/components/started-runs";
import { cx } from "@/components/ui";
import { dateTime, duration } from "@/lib/i18n/format";
import { glimpse } from "../model/glimpse";
import type { LiveStep } from "../model/live";
import { useNames } from "../model/useNames";
import { useRunTexts } from "../texts";
import { StateMark } from "./StateMark";

type Say = ReturnType<typeof useRunTexts>;

interface StepListProps {
  steps: readonly LiveStep[];
  selected?: string | undefined;
  onSelect: (stepId: string) => void;
}

function waitInWords(step: LiveStep, t: Say): string {
  const when = step.until ? dateTime(step.until) : "";
  if (step.answered) return t("waits_no_more");
  if (step.retry) return t("retry_at", { ...step.retry, when, error: step.error });
  if (step.stopped) return t("stopped_here");
  if (step.approval) return when ? t("waits_for_approval_until", { when }) : t("waits_for_approval");
  return when ? t("waiting_until", { when }) : "";
}

/** What a step waits for, why it failed, or what it gave. */
function inWords(step: LiveStep, t: Say, started: ReturnType<typeof useStartedRunsTexts>): string {
  if (["waiting", "running"].includes(step.status) && step.below && step.started)
    return startedWords(step.started, started);
  const waiting = step.status === "waiting" ? waitInWords(step, t) : "";
  if (waiting) return waiting;
  if (step.status === "completed" && step.error) return t("continued", { error: step.error });
  return step.error || glimpse(step);
}

/** The steps of a run in their order, as they stand. */
export function StepList({ steps, selected, onSelect }: StepListProps) {
  const t = useRunTexts();
  const started = useStartedRunsTexts();
  const names = useNames(steps);
  return (
    <ol aria-label={t("steps")} className="flex flex-col">
      {steps.map((step) => (
        <li key={step.id}>
          <button
            type="button"
            aria-current={selected === step.id ? "step" : undefined}
            onClick={() => onSelect(step.id)}
            className={cx(
              "flex w-full items-start gap-2.5 rounded-md px-2 py-1.5 text-left hover:bg-hover",
              selected === step.id && "bg-accent-soft",
            )}
          >
            <span className="mt-0.5">
              <StateMark status={step.status} failed={step.error !== ""} pinned={step.pinned} reused={step.reused} />
            </span>
            <span className="min-w-0 flex-1">
              <span className={cx("block truncate font-medium", step.status === "skipped" && "text-faint")}>
                {names[step.id]}
              </span>
              <span className={cx("block truncate text-xs", step.error ? "text-bad" : "text-muted")}>
                {inWords(step, t, started)}
              </span>
            </span>
            <span className="mt-0.5 shrink-0 text-xs text-muted tabular-nums">
              {step.ms !== null && !step.pinned && duration(step.ms)}
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
}
