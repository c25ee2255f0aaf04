import { Spinner } from "@/components/ui";
import { duration, money, number } from "@/lib/i18n/format";
import type { AssistantMessage } from "../model/message";
import { type AssistantText, type SayAssistant, useAssistantTexts } from "../texts";

const STEPS = new Set([
  "understanding",
  "generating_flow",
  "searching_components",
  "building_flow",
  "flow_built",
  "flow_build_failed",
  "flow_proposal_ready",
  "editing_flow",
  "running_flow",
  "orchestrating",
  "generating",
  "generating_component",
  "generation_complete",
  "extracting_code",
  "validating",
  "validated",
  "validation_failed",
  "retrying",
  "generating_document",
  "verifying_flow",
]);

/** What the turn is at, in words, and what it may use. */
export function Working({ message }: { message: AssistantMessage }) {
  const t = useAssistantTexts();
  const { stage, budget, orchestrating } = message;
  return (
    <div role="status" className="flex flex-col gap-0.5">
      <p className="flex items-center gap-2 text-sm text-muted">
        <Spinner />
        {orchestrating && stage?.step !== "orchestrating" && <span>{t("step_orchestrating")}</span>}
        <span className="text-ink">{stageText(t, message)}</span>
      </p>
      {budget && (
        <p className="pl-6 text-xs text-faint">
          {t("budget", {
            tokens: number(budget.max_tokens),
            calls: number(budget.max_tool_calls),
            time: duration(budget.max_seconds * 1000),
          })}
          {budget.max_cost_usd !== undefined && `, ${t("budget_cost", { cost: money(budget.max_cost_usd) })}`}
        </p>
      )}
    </div>
  );
}

function stageText(t: SayAssistant, { stage }: AssistantMessage): string {
  if (!stage || !STEPS.has(stage.step)) return t("working");
  const said = t(`step_${stage.step}` as AssistantText);
  return stage.of > 1 && stage.attempt > 1
    ? `${said} (${t("attempt", { attempt: stage.attempt, of: stage.of })})`
    : said;
}
