import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Workflow } from "lucide-react";
import { Suspense } from "react";
import { draftGraphQuery, runGraphQuery } from "@/api/queries/overview";
import { EmptyState, Problem, Skeleton } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { part } from "@/lib/part";
import { OverviewBar } from "./OverviewBar";
import { StepList } from "./StepList";
import { useSavedRevision } from "./saved";
import { useOverviewTexts } from "./texts";
import { useRunUpdates } from "./updates";

const Diagram = part(() => import("./Diagram"));

/** The flow as it is, or as a run went through it: nothing here can be changed. */
export function OverviewPage() {
  const t = useOverviewTexts();
  const { run } = useSearch({ from: "/inside/flows/$flowId/overview" });
  const flowId = useDraft((state) => state.flowId);
  const revision = useSavedRevision();
  const draft = useQuery({ ...draftGraphQuery(flowId, revision ?? 0), enabled: !run && revision !== null });
  const ran = useQuery({ ...runGraphQuery(flowId, run ?? ""), enabled: run !== undefined });
  useRunUpdates(flowId, run);
  const shown = run ? ran : draft;
  return (
    <div className="flex min-h-full flex-col lg:h-full">
      <OverviewBar runId={run} />
      {shown.isError && (
        <div className="p-4">
          <Problem error={shown.error} retry={() => void shown.refetch()} />
        </div>
      )}
      {!shown.isError && shown.data?.nodes.length === 0 && (
        <EmptyState icon={<Workflow />} title={t("empty")}>
          {t("empty_more")}
        </EmptyState>
      )}
      {!shown.isError && shown.data?.nodes.length !== 0 && (
        <div className="flex min-h-0 flex-1 flex-col lg:flex-row">
          <div className="h-[56vh] min-w-0 shrink-0 lg:h-auto lg:flex-1 lg:shrink">
            {shown.data ? (
              <Suspense fallback={<Skeleton className="size-full rounded-none" />}>
                <Diagram graph={shown.data} />
              </Suspense>
            ) : (
              <Skeleton className="size-full rounded-none" />
            )}
          </div>
          <aside className="shrink-0 overflow-y-auto border-line border-t bg-surface lg:w-80 lg:border-t-0 lg:border-l">
            {shown.data && <StepList graph={shown.data} runId={run} />}
          </aside>
        </div>
      )}
    </div>
  );
}
