import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { History } from "lucide-react";
import { versionFiguresQuery, versionsQuery } from "@/api/queries/versions";
import { Button, EmptyState, Problem, Skeleton } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { usePublishTexts } from "./texts";
import { VersionRow } from "./VersionRow";

/** Every version of the flow, newest first. */
export function VersionList() {
  const t = usePublishTexts();
  const flowId = useDraft((state) => state.flowId);
  const published = useDraft((state) => state.publishedVersion);
  const versions = useInfiniteQuery(versionsQuery(flowId));
  const { data: figures } = useQuery(versionFiguresQuery(flowId));
  if (versions.isPending) return <Skeleton className="h-60" />;
  if (versions.isError) return <Problem error={versions.error} retry={() => void versions.refetch()} />;
  const rows = versions.data.pages.flatMap((page) => page.items);
  if (rows.length === 0) {
    return (
      <div className="rounded-lg border border-line border-dashed">
        <EmptyState icon={<History />} title={t("no_versions")}>
          {t("no_versions_about")}
        </EmptyState>
      </div>
    );
  }
  return (
    <div className="flex flex-col gap-3">
      <ol className="max-h-[34rem] divide-y divide-line overflow-y-auto rounded-lg border border-line bg-surface">
        {rows.map((row, at) => (
          <VersionRow
            key={row.version}
            row={row}
            figures={figures?.find((one) => one.version === row.version)}
            published={row.version === published}
            earlier={rows[at + 1]?.version}
          />
        ))}
      </ol>
      {versions.hasNextPage && (
        <Button busy={versions.isFetchingNextPage} onClick={() => void versions.fetchNextPage()}>
          {t("more")}
        </Button>
      )}
    </div>
  );
}
