import { useQuery } from "@tanstack/react-query";
import { versionQuery } from "@/api/queries/versions";
import { useRights } from "@/api/rights";
import type { RunOut } from "@/api/types";
import { useDraft } from "@/lib/draft";

/** Whether somebody may run again what a run ran: without the right to test, only a version that was published. */
export function useRerunnable(run: Pick<RunOut, "flow_id" | "version">): boolean {
  const { may } = useRights();
  const spaceId = useDraft((state) => state.spaceId);
  const start = may("runs.start", spaceId);
  const test = may("runs.test", spaceId);
  const { data: ran } = useQuery({ ...versionQuery(run.flow_id, run.version), enabled: start && !test });
  return start && (test || typeof ran?.release === "number");
}
