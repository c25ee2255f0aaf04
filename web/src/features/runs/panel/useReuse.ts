import { useQuery, useQueryClient } from "@tanstack/react-query";
import { newestRunsQuery, runQuery } from "@/api/queries/runs";
import { toast, toastError } from "@/components/ui";
import { ago } from "@/lib/i18n/format";
import { usePanels } from "@/lib/panels";
import { valuesOf } from "../model/form";
import { useRunTexts } from "../texts";
import type { usePanelRun } from "./usePanelRun";

/** Fills the form, files too, from the newest run of the flow; offered where there is one. */
export function useReuse(panel: ReturnType<typeof usePanelRun>) {
  const t = useRunTexts();
  const queries = useQueryClient();
  const query = newestRunsQuery({ flow_id: panel.flowId }, 1);
  const { data } = useQuery({ ...query, enabled: panel.ready });
  const reuse = async () => {
    try {
      const [newest] = await queries.fetchQuery({ ...query, staleTime: 0 });
      if (!newest) return;
      const run = await queries.fetchQuery(runQuery(newest.id));
      usePanels.getState().setOpen("run", true);
      panel.setValues(valuesOf(panel.form, run.input));
      toast({ title: t("reused_data", { when: ago(run.created_at) }) });
    } catch (error) {
      toastError(t("reuse"), error);
    }
  };
  return { reuse, reusable: panel.ready && (panel.runId !== null || (data ?? []).length > 0) };
}
