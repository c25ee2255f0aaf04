import { useQuery } from "@tanstack/react-query";
import { newestRunsQuery, stepQuery } from "@/api/queries/runs";
import type { StepOut } from "@/api/types";
import { DiffView } from "@/components/diff/DiffView";
import { Skeleton } from "@/components/ui";
import { asText } from "@/components/values/shape";
import { useDraft } from "@/lib/draft";
import { ago } from "@/lib/i18n/format";
import { useRunTexts } from "../texts";

/** A step's output against that of the run before. */
export function CompareTab({ runId, step }: { runId: string; step: StepOut }) {
  const t = useRunTexts();
  const flowId = useDraft((state) => state.flowId);
  const runs = useQuery(newestRunsQuery({ flow_id: flowId }, 50));
  // Ids are in the order of time.
  const before = runs.data?.find((run) => run.id < runId && run.status !== "queued");
  const other = useQuery({ ...stepQuery(before?.id ?? "", step.step_id), enabled: before !== undefined, retry: false });
  if (runs.isPending || (before && other.isPending)) return <Skeleton className="h-32" />;
  if (!before || !other.data?.output) return <p className="text-sm text-muted">{t("no_previous")}</p>;
  return (
    <div className="flex flex-col gap-2">
      <p className="text-sm text-muted">{t("against_run", { when: ago(before.created_at) })}</p>
      <DiffView before={wholeText(other.data)} after={wholeText(step)} label={t("difference")} />
    </div>
  );
}

/** Everything a step gave, as text to compare. */
export function wholeText(step: Pick<StepOut, "output">): string {
  const outputs = Object.entries((step.output?.outputs ?? {}) as Record<string, unknown>);
  if (outputs.length === 1) return asText(outputs[0]?.[1]);
  return outputs.map(([name, value]) => `${name}:\n${asText(value)}`).join("\n\n");
}
