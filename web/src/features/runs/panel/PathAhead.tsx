import type { DryRunOut } from "@/api/types";
import { Chip, ClassChip } from "@/components/ui";
import { money, number } from "@/lib/i18n/format";
import { useNames } from "../model/useNames";
import { useRunTexts } from "../texts";
import { StepAhead } from "./StepAhead";

type DryStep = DryRunOut["path"][number];
type DryCall = NonNullable<DryStep["calls"]>[number];
type Texts = ReturnType<typeof useRunTexts>;

/** The expected steps of a run, and below each the flows that it would run. */
export function PathAhead({ path }: { path: readonly DryStep[] }) {
  const t = useRunTexts();
  const names = useNames(path);
  return (
    <ol className="flex flex-col gap-1.5">
      {path.map((step) => (
        <li key={step.step_id} className="flex flex-wrap items-center gap-2">
          <span className="w-5 text-right text-xs text-faint tabular-nums">{step.order}</span>
          <span className="font-medium">{names[step.step_id]}</span>
          {step.runs === "possible" && <Chip>{t("ahead_possible")}</Chip>}
          {step.models.map((model) => (
            <Chip key={model.model} tone={model.usable ? "info" : "bad"}>
              {t("ahead_asks", { model: model.model })}
            </Chip>
          ))}
          {step.classification && <ClassChip level={step.classification.level} />}
          <StepAhead step={step} />
          {step.calls?.map((call) => (
            <CallAhead key={`${call.node} ${call.flow_id} ${call.version}`} call={call} />
          ))}
        </li>
      ))}
    </ol>
  );
}

/** A flow that a step would run: how often, what one run costs at least, and its own steps. */
function CallAhead({ call }: { call: DryCall }) {
  const t = useRunTexts();
  const { preview, problem = "", totals } = call;
  const title = t("ahead_call", { name: call.name, version: call.version, often: often(t, call) });
  if (problem !== "" || !preview)
    return (
      <div className="w-full pl-7 text-sm">
        <span>{title}</span> <Cost totals={totals} />
        <p className={problem === "" ? "text-xs text-muted" : "text-xs text-bad"}>
          {problem === ""
            ? t("ahead_shown_above")
            : t(`ahead_call_${problem}`, { trail: (call.trail ?? []).join(" → ") })}
        </p>
      </div>
    );
  return (
    <details open className="w-full pl-7 text-sm">
      <summary className="cursor-pointer">
        {title} <Cost totals={totals} />
        {!preview.ok && <Chip tone="bad">{t("ahead_not")}</Chip>}
      </summary>
      <div className="mt-1.5 border-l border-line pl-2">
        <PathAhead path={preview.path} />
      </div>
    </details>
  );
}

function Cost({ totals }: { totals: DryCall["totals"] }) {
  const t = useRunTexts();
  if (!totals || totals.model_steps === 0) return null;
  const cost = totals.cost_usd_at_least;
  const tokens = number(totals.tokens_input_at_least);
  return (
    <span className="text-xs text-muted">
      {cost === null ? t("ahead_no_price") : t("ahead_call_cost", { cost: money(cost), tokens })}
    </span>
  );
}

function often(t: Texts, { repeats, at_most: most }: DryCall): string {
  switch (repeats) {
    case "once":
      return t("ahead_once");
    case "round":
      return most == null ? t("ahead_per_round") : t("ahead_rounds", { count: most });
    case "item":
      return most == null ? t("ahead_per_item") : t("ahead_items", { count: most });
    case "tool":
      return t("ahead_per_call");
  }
}
