import type { ReactNode } from "react";
import type { DeliveryOut } from "@/api/types";
import { Button, Callout, StateChip } from "@/components/ui";
import { dateTime } from "@/lib/i18n/format";
import { type RunTextKey, useRunTexts } from "../texts";
import { useRedeliver } from "./useRedeliver";

const STATES: Record<string, string> = { delivered: "completed", delivering: "running" };

interface DeliveryViewProps {
  delivery: DeliveryOut;
  title?: ReactNode;
  /** Whether the user can send it again. */
  again: boolean;
}

/** One delivery: its state, its receiver, its last error and each attempt. */
export function DeliveryView({ delivery, title, again }: DeliveryViewProps) {
  const t = useRunTexts();
  const redeliver = useRedeliver(delivery.run_id);
  const { attempts, next_attempt_at: next, status } = delivery;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <StateChip state={STATES[status] ?? status} label={t(status as RunTextKey)} />
        {title && <span className="min-w-0 truncate font-medium">{title}</span>}
        <span className="min-w-0 truncate font-mono text-xs">{t("to", { url: delivery.url })}</span>
        {again && (
          <Button
            size="sm"
            className="sm:ml-auto"
            busy={redeliver.isPending}
            onClick={() => redeliver.mutate(delivery.id)}
          >
            {t("redeliver")}
          </Button>
        )}
      </div>
      {delivery.webhook_error && (
        <Callout tone="bad">
          {delivery.last_status === null
            ? delivery.webhook_error.message
            : t("delivery_code", { code: delivery.last_status })}
        </Callout>
      )}
      <ol className="flex flex-col gap-1 text-sm text-muted">
        {attempts.map((attempt) => (
          <li key={attempt.attempt_no}>
            {t("attempt", { no: attempt.attempt_no })}, {dateTime(attempt.started_at)}
            {attempt.status_code !== null && ` · HTTP ${attempt.status_code}`}
          </li>
        ))}
        {attempts.length === 0 && <li>{t("no_attempts")}</li>}
        {next && status === "pending" && attempts.length > 0 && <li>{t("next_attempt", { when: dateTime(next) })}</li>}
      </ol>
    </div>
  );
}
