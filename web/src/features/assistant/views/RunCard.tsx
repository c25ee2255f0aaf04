import { Link } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { Callout, StateChip } from "@/components/ui";
import { duration } from "@/lib/i18n/format";
import type { RunShown, RunStep } from "../model/message";
import { type AssistantText, useAssistantTexts } from "../texts";
import { Card } from "./Card";
import { useAssistant } from "./context";

/** A run that the answer started: its steps as they go, and what came of it. */
export function RunCard({ run }: { run: RunShown }) {
  const t = useAssistantTexts();
  const flowId = useAssistant((state) => state.flowId);
  return (
    <Card
      icon={<Play />}
      title={t("run")}
      aside={
        <span className="flex items-center gap-2">
          {run.ms !== null && <span className="text-xs text-muted tabular-nums">{duration(run.ms)}</span>}
          <StateChip state={run.status} label={t(stateText(run.status))} />
        </span>
      }
      footer={
        <Link
          to="/flows/$flowId/runs/$runId"
          params={{ flowId, runId: run.runId }}
          className="text-sm text-accent hover:underline"
        >
          {t("run_open")}
        </Link>
      }
    >
      {run.steps.length > 0 && (
        <ul aria-label={t("run_steps")} className="flex flex-col gap-1">
          {run.steps.map((step) => (
            <Step key={step.id} step={step} />
          ))}
        </ul>
      )}
      {run.error && <Callout tone="bad">{run.error}</Callout>}
      {run.text && (
        <p className="mt-2 max-h-32 overflow-y-auto whitespace-pre-wrap break-words border-line border-t pt-2 text-sm">
          {run.text}
        </p>
      )}
    </Card>
  );
}

function Step({ step }: { step: RunStep }) {
  const t = useAssistantTexts();
  return (
    <li className="flex items-center gap-2 text-sm">
      <span className="min-w-0 flex-1 truncate">{step.label}</span>
      {step.ms !== null && <span className="text-xs text-muted tabular-nums">{duration(step.ms)}</span>}
      <StateChip state={step.status} label={t(stateText(step.status))} />
    </li>
  );
}

const STATES = new Set(["running", "waiting", "completed", "failed", "cancelled", "skipped"]);
const stateText = (state: string) => (STATES.has(state) ? `state_${state}` : "state_pending") as AssistantText;
