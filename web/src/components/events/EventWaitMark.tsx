import { useQuery } from "@tanstack/react-query";
import { eventWaitsQuery } from "@/api/queries/events";
import { Chip } from "@/components/ui";
import { ago } from "@/lib/i18n/format";
import { useEventTexts } from "./texts";

/** The events that a run in a list waits for, each with its correlation and the time left. */
export function EventWaitMark({ runId }: { runId: string }) {
  const t = useEventTexts();
  const { data = [] } = useQuery(eventWaitsQuery(null));
  return data
    .filter((wait) => wait.run_id === runId)
    .map((wait) => (
      <Chip key={wait.step_id}>
        {[t("named", { name: wait.name }), wait.correlation, wait.due_at && ago(wait.due_at)]
          .filter(Boolean)
          .join(" · ")}
      </Chip>
    ));
}
