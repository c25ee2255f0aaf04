import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ArrowRight } from "lucide-react";
import { useState } from "react";
import { diffQuery, type Side, versionQuery, versionsQuery } from "@/api/queries/versions";
import type { Flow } from "@/api/types";
import { FlowDrawing } from "@/components/flow-drawing/FlowDrawing";
import { Dialog, Problem, Select, Skeleton } from "@/components/ui";
import { useDraft, useDraftParts } from "@/lib/draft";
import { toFlow } from "@/lib/draft/document";
import { ChangeList } from "./ChangeList";
import { type Changes, changeLines, compare } from "./comparison";
import { useSavedDraft } from "./saved";
import { usePublishTexts } from "./texts";

/** Two versions, or a version and the draft: a picture of what changed, and every change in words. */
export function CompareDialog({ before, after }: { before: Side; after: Side }) {
  const t = usePublishTexts();
  const navigate = useNavigate();
  const flowId = useDraft((state) => state.flowId);
  const { data } = useInfiniteQuery(versionsQuery(flowId));
  const numbers = data?.pages.flatMap((page) => page.items.map((one) => one.version)) ?? [];
  const sides = ["draft", ...[...new Set([...numbers, before, after])].filter((one) => one !== "draft").map(String)];
  const options = sides.map((one) => ({
    value: one,
    label: one === "draft" ? t("draft") : t("version", { version: one }),
  }));
  const go = (search: { before?: string; after?: string }) =>
    void navigate({ to: "/flows/$flowId/publish", params: { flowId }, search, replace: true });
  return (
    <Dialog open onOpenChange={(open) => !open && go({})} title={t("compare")} size="full">
      <div className="mb-4 flex items-center gap-2">
        <Select
          aria-label={t("before")}
          className="min-w-0 flex-1 sm:max-w-40"
          value={`${before}`}
          options={options}
          onChange={(one) => go({ before: one, after: `${after}` })}
        />
        <ArrowRight aria-hidden className="size-4 shrink-0 text-faint" />
        <Select
          aria-label={t("after")}
          className="min-w-0 flex-1 sm:max-w-40"
          value={`${after}`}
          options={options}
          onChange={(one) => go({ before: `${before}`, after: one })}
        />
      </div>
      <Compared before={before} after={after} />
    </Dialog>
  );
}

function Compared({ before, after }: { before: Side; after: Side }) {
  const t = usePublishTexts();
  const flowId = useDraft((state) => state.flowId);
  const templates = useDraft((state) => state.templates);
  const revision = useSavedDraft();
  const old = useContent(flowId, before);
  const young = useContent(flowId, after);
  const found = useQuery({ ...diffQuery(flowId, before, after, revision ?? 0), enabled: revision !== null });
  const [selected, setSelected] = useState<string>();
  if (found.isError) return <Problem error={found.error} retry={() => void found.refetch()} />;
  if (!found.data || !old || !young) return <Skeleton className="h-96" />;
  if (found.data.identical) return <p className="py-10 text-center text-muted">{t("identical")}</p>;
  const changes = found.data.changes as Changes;
  const { flow, marks, edgeMarks } = compare(old, young, changes);
  const lines = changeLines(changes);
  return (
    <div className="grid gap-4 lg:grid-cols-[minmax(0,1.4fr)_minmax(0,1fr)]">
      <div className="flex min-w-0 flex-col gap-2">
        <div className="h-56 sm:h-[min(54vh,34rem)] overflow-hidden rounded-lg border border-line bg-canvas">
          <FlowDrawing
            title={t("picture_of_changes")}
            flow={flow}
            templates={templates}
            marks={marks}
            edgeMarks={edgeMarks}
            selected={selected}
            onSelect={(id) => setSelected(id === selected ? undefined : id)}
          />
        </div>
        <Legend />
      </div>
      <ChangeList lines={lines} selected={selected} onSelect={setSelected} />
    </div>
  );
}

/** The content of one side: of the draft what is on the screen. */
function useContent(flowId: string, side: Side): Flow | undefined {
  const document = useDraftParts((state) => state.document);
  const version = useQuery({ ...versionQuery(flowId, Number(side)), enabled: side !== "draft" });
  return side === "draft" ? toFlow(document) : version.data?.definition;
}

function Legend() {
  const t = usePublishTexts();
  return (
    <p className="flex flex-wrap gap-x-4 gap-y-1 text-sm text-muted">
      <span className="text-ok">+ {t("added")}</span>
      <span className="text-warn">≠ {t("changed")}</span>
      <span className="text-bad">− {t("removed")}</span>
    </p>
  );
}
