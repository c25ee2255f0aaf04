import { useQuery } from "@tanstack/react-query";
import { RadioTower } from "lucide-react";
import { useState } from "react";
import { type EventWait, eventWaitsQuery } from "@/api/queries/events";
import { Button } from "@/components/ui";
import { ago, dateTime } from "@/lib/i18n/format";
import { SendEventDialog } from "./SendEventDialog";
import { useEventTexts } from "./texts";

/** The events that a run waits for: name, correlation and time left, and a way to send each. */
export function WaitingForEvents({ runId, maySend }: { runId: string; maySend: boolean }) {
  const t = useEventTexts();
  const [sending, setSending] = useState<EventWait | null>(null);
  const { data } = useQuery(eventWaitsQuery(runId));
  if (!data || data.length === 0) return null;
  return (
    <ul aria-label={t("waiting")} className="flex flex-col gap-2">
      {data.map((wait) => (
        <li
          key={wait.step_id}
          className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-md border border-info/25 bg-info-soft px-3 py-2.5 text-sm"
        >
          <RadioTower aria-hidden className="size-4 shrink-0 self-start text-info" />
          <div className="min-w-0 flex-1 basis-48">
            <p className="font-medium text-info">{t("waiting")}</p>
            <p className="break-words">
              {t("named", { name: wait.name })}
              {wait.correlation && ` ${t("correlated", { correlation: wait.correlation })}`}
            </p>
            <p className="mt-0.5 text-xs text-muted">
              {wait.due_at ? t("until", { when: dateTime(wait.due_at), left: ago(wait.due_at) }) : t("no_end")}
            </p>
          </div>
          {maySend && <Button onClick={() => setSending(wait)}>{t("send")}</Button>}
        </li>
      ))}
      {sending && (
        <SendEventDialog
          spaceId={sending.space_id}
          name={sending.name}
          correlation={sending.correlation}
          onClose={() => setSending(null)}
        />
      )}
    </ul>
  );
}
