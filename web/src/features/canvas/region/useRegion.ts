import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { calledFlowQuery, flowNamed } from "@/api/queries/calledFlow";
import { over, relationsQuery, runKeys, runQuery, runsQuery } from "@/api/queries/runs";
import { versionQuery } from "@/api/queries/versions";
import type { JsonValue, RunSummary } from "@/api/types";
import { useDraft } from "@/lib/draft";

const AGAIN_MS = 1500;

/** The flow that a node runs, in the version that it runs, and the runs that it started in the run that is shown. */
export function useRegion(id: string) {
  const params = useDraft((state) => state.document.nodes[id]?.params);
  const space = useDraft((state) => state.spaceId);
  const field = useDraft((state) => {
    const type = state.document.nodes[id]?.type ?? "";
    return state.templates[type]?.fields?.find((one) => one.kind === "flow")?.name ?? "flow";
  });
  const named = flowNamed(params?.[field]);
  const called = useQuery({ ...calledFlowQuery(named, space), refetchOnMount: "always" });
  const started = useStarted(id);
  const flowId = called.data?.id ?? null;
  const run = started.run?.flow_id === flowId ? started.run : undefined;
  const version = run?.version ?? pinned(params, field) ?? called.data?.published_version ?? null;
  const read = useQuery({
    ...versionQuery(flowId ?? "", version ?? 0),
    enabled: flowId !== null && version !== null,
    retry: false,
  });
  return {
    named,
    name: called.data?.name ?? (called.isError ? "" : named),
    flowId,
    version,
    pinned: pinned(params, field) !== undefined,
    flow: read.data?.definition,
    unknown: named !== "" && (called.isError || (called.isSuccess && flowId === null) || read.isError),
    unpublished: flowId !== null && version === null,
    started: { ...started, run },
  };
}

/** The version that the node names: in its own field, or with the flow. */
function pinned(params: Record<string, JsonValue> | undefined, field: string): number | undefined {
  const flow = params?.[field];
  const named = flow && typeof flow === "object" && "version" in flow ? flow.version : params?.version;
  return typeof named === "number" ? named : undefined;
}

/** The runs that a node started: the one that runs now, or the last; another one where the user goes to it. */
function useStarted(id: string) {
  const { parent, enabled, list, counts } = useLists(id);
  const [chosen, setChosen] = useState({ parent: "", run: "" });
  const runs = list.data?.pages.flatMap((page) => page.items) ?? [];
  const at = indexOf(runs, chosen.parent === parent ? chosen.run : "");
  const summary = runs[at];
  const { data: run } = useQuery({
    ...runQuery(summary?.id ?? ""),
    enabled: enabled && summary !== undefined,
    refetchInterval: ({ state }) => (state.data && !over(state.data) ? AGAIN_MS : false),
  });
  const go = (index: number) => setChosen({ parent, run: runs[index]?.id ?? "" });
  const last = at === runs.length - 1;
  const earlier = () => (last ? void list.fetchNextPage() : go(at + 1));
  return {
    run: enabled && run?.id === summary?.id ? run : undefined,
    number: (summary?.parent_iteration ?? 0) + 1,
    several: enabled && runs.length > 1,
    counts,
    /** The list has the newest first. */
    before: last && !list.hasNextPage ? null : earlier,
    after: at > 0 ? () => go(at - 1) : null,
  };
}

/** The place of the chosen run, or of the one that runs now, or of the last. */
function indexOf(runs: readonly RunSummary[], chosen: string): number {
  const found = runs.findIndex((run) => run.id === chosen);
  if (found >= 0) return found;
  return Math.max(
    runs.findIndex((run) => !over(run)),
    0,
  );
}

/** The runs of a node and how many there are, read again while the node runs. */
function useLists(id: string) {
  const { parent, enabled, active } = useParent(id);
  const again = active ? AGAIN_MS : false;
  const listed = runsQuery({ parent_run_id: parent, parent_step_id: id });
  const list = useInfiniteQuery({
    ...listed,
    enabled,
    refetchInterval: (query) => again || (listed.refetchInterval as (of: typeof query) => number | false)(query),
  });
  const relations = useQuery({ ...relationsQuery(parent), enabled, refetchInterval: again });
  const client = useQueryClient();
  // What was asked before the end of the step is not the end.
  useEffect(() => {
    if (!enabled || active) return;
    for (const queryKey of [runKeys.one(parent), runKeys.list({ parent_run_id: parent, parent_step_id: id })]) {
      void client.cancelQueries({ queryKey }).then(() => client.invalidateQueries({ queryKey }));
    }
  }, [client, enabled, active, parent, id]);
  const counts = enabled ? relations.data?.steps.find((one) => one.step_id === id) : undefined;
  return { parent, enabled, list, counts };
}

/** The run that the canvas shows, and whether the node has started in it, and has not ended. */
function useParent(id: string) {
  const shown = useDraft((state) => state.shownRun);
  const status = useDraft((state) => state.nodeRuns[id]?.status);
  const enabled = shown !== null && status !== undefined && status !== "pending";
  const active = enabled && !over(shown) && (status === "running" || status === "waiting");
  return { parent: shown?.id ?? "", enabled, active };
}
