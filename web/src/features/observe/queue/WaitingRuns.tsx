import { useNavigate } from "@tanstack/react-router";
import { ArrowUpDown, CircleX, Clock, CornerDownRight, Ellipsis, Pause } from "lucide-react";
import { useState } from "react";
import { cancelQueuedRun, type QueuedRun, queueKeys } from "@/api/queries/queue";
import { Chip, IconButton, Menu, Row, Rows, toast } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { ago, number } from "@/lib/i18n/format";
import { PriorityDialog } from "./PriorityDialog";
import { useQueueTexts } from "./texts";

/** The runs that wait, the next first: why, at which place, and what can be done. */
export function WaitingRuns({ runs, nameOf }: { runs: readonly QueuedRun[]; nameOf: (limit: string) => string }) {
  const t = useQueueTexts();
  const [changing, setChanging] = useState<QueuedRun | null>(null);
  return (
    <section aria-label={t("runs")}>
      <h2 className="mb-2 font-semibold">{t("runs")}</h2>
      {runs.length === 0 ? (
        <p className="rounded-lg border border-line bg-surface px-4 py-3 text-muted">{t("runs_none")}</p>
      ) : (
        <Rows label={t("runs")}>
          {runs.map((run) => (
            <RunRow key={run.id} run={run} nameOf={nameOf} onChange={() => setChanging(run)} />
          ))}
        </Rows>
      )}
      {runs.length === 200 && <p className="mt-2 text-sm text-muted">{t("runs_first", { count: 200 })}</p>}
      {changing && <PriorityDialog run={changing} onClose={() => setChanging(null)} />}
    </section>
  );
}

interface RunRowProps {
  run: QueuedRun;
  nameOf: (limit: string) => string;
  onChange: () => void;
}

function RunRow({ run, nameOf, onChange }: RunRowProps) {
  const t = useQueueTexts();
  const navigate = useNavigate();
  const cancel = useChange({ change: cancelQueuedRun, touches: [queueKeys.all], failed: t("failed") });
  const { id, reason, limit, position, priority } = run;
  return (
    <Row
      icon={reason === "paused" ? <Pause aria-hidden /> : <Clock aria-hidden />}
      title={
        <>
          <span>{run.flow}</span>
          {position !== null && (
            <Chip>{t(limit ? "position" : "position_worker", { position: number(position) })}</Chip>
          )}
          {priority !== 0 && (
            <Chip tone={priority > 0 ? "info" : "neutral"}>{t("priority_is", { priority: number(priority) })}</Chip>
          )}
          {run.of_step && <Chip>{t("of_step")}</Chip>}
        </>
      }
      detail={[limit ? nameOf(limit) : t(`reason_${reason}`), ago(run.since)].join(" · ")}
      aside={
        <Menu
          items={[
            {
              id: "open",
              label: t("open_run"),
              icon: <CornerDownRight />,
              onSelect: () =>
                void navigate({ to: "/flows/$flowId/runs/$runId", params: { flowId: run.flow_id, runId: id } }),
            },
            ...(run.may_change
              ? [
                  ...(run.of_step
                    ? []
                    : [{ id: "priority", label: t("change_priority"), icon: <ArrowUpDown />, onSelect: onChange }]),
                  {
                    id: "cancel",
                    label: t("cancel"),
                    icon: <CircleX />,
                    danger: true,
                    disabled: cancel.isPending,
                    onSelect: () =>
                      cancel.mutate(id, { onSuccess: () => toast({ title: t("cancelled"), tone: "ok" }) }),
                  },
                ]
              : []),
          ]}
        >
          <IconButton size="sm" label={t("actions", { id })}>
            <Ellipsis />
          </IconButton>
        </Menu>
      }
    />
  );
}
