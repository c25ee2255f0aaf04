import { useQuery } from "@tanstack/react-query";
import { ServerCog, ServerOff } from "lucide-react";
import { useState } from "react";
import { type Process, processesQuery, processKeys, undrainProcess } from "@/api/queries/processes";
import { Button, Chip, EmptyState, Listing, Problem, Row } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { ago, dateTime } from "@/lib/i18n/format";
import { Section } from "../Section";
import { useSettingsTexts } from "../texts";
import { DrainDialog } from "./DrainDialog";

const TONES = { running: "ok", draining: "warn", drained: "info", dead: "bad" } as const;

/** Servers and workers: what each works on, and drain mode. */
export function ProcessesSection() {
  const t = useSettingsTexts();
  const processes = useQuery(processesQuery);
  const [draining, setDraining] = useState<Process | null>(null);
  const undrain = useChange({ change: undrainProcess, touches: [processKeys.all] });
  return (
    <Section title={t("processes")} about={t("processes_about")}>
      {undrain.isError && <Problem error={undrain.error} />}
      <Listing
        label={t("processes")}
        query={processes}
        empty={<EmptyState icon={<ServerCog />} title={t("processes_none")} />}
      >
        {(process) => (
          <ProcessRow
            key={process.id}
            process={process}
            busy={undrain.isPending}
            onDrain={() => setDraining(process)}
            onUndrain={() => undrain.mutate(process.id)}
          />
        )}
      </Listing>
      {draining && <DrainDialog process={draining} onClose={() => setDraining(null)} />}
    </Section>
  );
}

const JOBS = [
  "alert_evaluations",
  "alert_notices",
  "approval_notices",
  "codev_notices",
  "codev_sessions",
  "deliveries",
  "key_rotation",
  "knowledge",
  "knowledge_source",
  "maintenance",
  "slos",
  "tests",
  "triggers",
] as const;

/** What a count of work is called; a kind that the page does not know by its own name. */
function textOf(name: string) {
  if (name === "runs" || name === "messages") return `process_${name}` as const;
  const job = JOBS.find((kind) => kind === name.replaceAll(" ", "_"));
  return job ? (`job_${job}` as const) : "process_jobs";
}

interface ProcessRowProps {
  process: Process;
  busy: boolean;
  onDrain: () => void;
  onUndrain: () => void;
}

function ProcessRow({ process, busy, onDrain, onUndrain }: ProcessRowProps) {
  const t = useSettingsTexts();
  const { id, kind, state, host, pid, version, work } = process;
  const counts = Object.entries(work).map(([name, count]) => t(textOf(name), { count, name }));
  const details = [
    t("process_of", { pid, version, started: dateTime(process.started_at) }),
    state === "dead" ? t("process_seen", { when: ago(process.seen_at) }) : counts.join(", ") || t("process_idle"),
    ...(process.hand_over_at && state === "draining"
      ? [t("hands_over", { when: dateTime(process.hand_over_at) })]
      : []),
  ];
  return (
    <Row
      icon={state === "dead" ? <ServerOff aria-hidden /> : <ServerCog aria-hidden />}
      title={
        <>
          <span>{t(`process_${kind}`, { host })}</span>
          <Chip tone={TONES[state]}>{t(`process_${state}`)}</Chip>
        </>
      }
      detail={details.join(" · ")}
      aside={
        state === "running" ? (
          <Button size="sm" aria-label={t("drain_what", { id })} onClick={onDrain}>
            {t("drain")}
          </Button>
        ) : state === "dead" ? null : (
          <Button size="sm" aria-label={t("undrain_what", { id })} busy={busy} onClick={onUndrain}>
            {t("undrain")}
          </Button>
        )
      }
    />
  );
}
