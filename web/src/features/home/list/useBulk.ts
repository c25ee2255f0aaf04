import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { type BulkIn, type BulkResult, changeFlows, MOST_FLOWS } from "@/api/queries/flowCollections";
import { flowKeys } from "@/api/queries/flows";
import { toast, toastError } from "@/components/ui";
import { forgetFlow } from "@/lib/commands/recent";
import { useHomeTexts } from "../texts";

type Change = Omit<BulkIn, "flow_ids">;

/** Returns the results of one request after the other, up to one that fails. */
async function changeAll(flow_ids: string[], change: Change, failed: (error: unknown) => void): Promise<BulkResult[]> {
  const results: BulkResult[] = [];
  try {
    for (let start = 0; start < flow_ids.length; start += MOST_FLOWS) {
      results.push(...(await changeFlows({ ...change, flow_ids: flow_ids.slice(start, start + MOST_FLOWS) })));
    }
  } catch (error) {
    failed(error);
  }
  return results;
}

/** Applies an action to flows, and reports what was done and why the rest was refused. */
export function useBulk() {
  const t = useHomeTexts();
  const client = useQueryClient();
  return useCallback(
    async function apply(flow_ids: string[], change: Change): Promise<void> {
      const results = await changeAll(flow_ids, change, (error) => toastError(t("failed_bulk"), error));
      const done = results.filter((one) => one.done).map((one) => one.flow_id);
      for (const id of done) {
        client.removeQueries({ queryKey: flowKeys.one(id) });
        if (change.action === "delete") forgetFlow(id);
      }
      if (done.length > 0) {
        toast({
          title: t(`bulk_${change.action}`, { count: done.length }),
          ...(change.action === "delete"
            ? { action: { label: t("undo"), onClick: () => void apply(done, { action: "restore", tags: [] }) } }
            : { tone: "ok" }),
        });
      }
      const refused = results.filter((one) => !one.done);
      const [first] = refused;
      if (first) {
        toast({ title: t("bulk_refused", { count: refused.length }), detail: first.problem?.detail, tone: "bad" });
      }
      await client.invalidateQueries({ queryKey: flowKeys.lists });
    },
    [client, t],
  );
}
