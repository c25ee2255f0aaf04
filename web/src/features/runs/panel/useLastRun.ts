import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { newestRunsQuery } from "@/api/queries/runs";
import { versionQuery } from "@/api/queries/versions";
import { toDocument, useDraftStore } from "@/lib/draft";
import { useRun } from "../model/useRun";
import { useCanvasFeed } from "./useCanvasFeed";

/** Shows the newest run of the flow on its nodes, until one is started here. */
export function useLastRun(flowId: string, started: string | null, enabled: boolean): void {
  const store = useDraftStore();
  const [own, setOwn] = useState(false);
  if (started !== null && !own) setOwn(true);
  const wanted = enabled && !own && started === null;
  const newest = useQuery({
    ...newestRunsQuery({ flow_id: flowId }, 1),
    enabled: wanted,
    staleTime: Number.POSITIVE_INFINITY,
  }).data?.[0];
  const id = wanted ? (newest?.id ?? null) : null;
  const version = useQuery({ ...versionQuery(flowId, newest?.version ?? 0), enabled: id !== null }).data;
  useCanvasFeed(useRun(id).live);
  useEffect(() => {
    if (id === null || !version) return;
    const { nodes, edges } = toDocument(version.definition);
    store.getState().setRan({ runId: id, nodes, edges });
  }, [id, version, store]);
}
