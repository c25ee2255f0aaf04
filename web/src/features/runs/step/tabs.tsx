import { useQueries, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { deliveriesQuery, stepQuery } from "@/api/queries/runs";
import { useRights } from "@/api/rights";
import type { StepOut } from "@/api/types";
import { FileLink } from "@/components/files/FileLink";
import { Callout, Chip, CopyButton, StateChip } from "@/components/ui";
import { ValueView } from "@/components/values/ValueView";
import { useDraft } from "@/lib/draft";
import { dateTime, duration } from "@/lib/i18n/format";
import { DeliveryView } from "../deliveries/DeliveryView";
import { useNames } from "../model/useNames";
import { type RunTextKey, useRunTexts } from "../texts";
import { isCited, KNOWLEDGE_SEARCH, KnowledgeCall } from "./KnowledgeCall";

type Outputs = Record<string, unknown>;
const outputsOf = (step: StepOut) => (step.output?.outputs ?? {}) as Outputs;
const filesOf = (step: StepOut) => {
  const made = (step.output?.generated_file_ids ?? []) as string[];
  return [...new Set(made)];
};

function Titled({ title, children, aside }: { title?: ReactNode; children: ReactNode; aside?: ReactNode }) {
  return (
    <section className="flex flex-col gap-1.5">
      {title && (
        <div className="flex min-h-7 items-center gap-2">
          <h4 className="text-xs font-medium text-muted">{title}</h4>
          <div className="ml-auto">{aside}</div>
        </div>
      )}
      {children}
    </section>
  );
}

export function OutputTab({ step }: { step: StepOut }) {
  const t = useRunTexts();
  const outputs = Object.entries(outputsOf(step));
  const notTaken = (step.output?.not_taken ?? []) as string[];
  if (!step.output) return <p className="text-sm text-muted">{t("no_output")}</p>;
  return (
    <div className="flex flex-col gap-4">
      {outputs.map(([name, value]) => (
        <Titled key={name} title={outputs.length > 1 ? t("output_named", { name }) : undefined}>
          <ValueView value={value} />
        </Titled>
      ))}
      {notTaken.length > 0 && <p className="text-sm text-muted">{t("not_taken", { names: notTaken.join(", ") })}</p>}
      {filesOf(step).map((id) => (
        <FileLink key={id} id={id} />
      ))}
    </div>
  );
}

/** What reached a step: what its policy brought, and what edges brought from the steps before. */
export function InputTab({ runId, step }: { runId: string; step: StepOut }) {
  const t = useRunTexts();
  const edges = useDraft((state) => state.document.edges);
  const feeds = Object.values(edges).filter((edge) => edge.target === step.step_id);
  const before = useQueries({
    queries: [...new Set(feeds.map((edge) => edge.source))].map((id) => ({ ...stepQuery(runId, id), retry: false })),
  });
  const names = useNames(before.flatMap((one) => one.data ?? []));
  const given = Object.entries(step.input ?? {});
  const brought = feeds.flatMap((edge) => {
    const found = before.find((one) => one.data?.step_id === edge.source)?.data;
    const value = found && outputsOf(found)[edge.output];
    return found && value !== undefined
      ? [{ key: `${edge.source}.${edge.output}.${edge.input}`, label: names[found.step_id] ?? found.label, value }]
      : [];
  });
  if (given.length === 0 && brought.length === 0) return <p className="text-sm text-muted">{t("no_input")}</p>;
  return (
    <div className="flex flex-col gap-4">
      {brought.map((one) => (
        <Titled key={one.key} title={t("from_step", { step: one.label })}>
          <ValueView value={one.value} />
        </Titled>
      ))}
      {given.map(([name, value]) => (
        <Titled key={name} title={name}>
          <ValueView value={value} />
        </Titled>
      ))}
    </div>
  );
}

export function PromptTab({ step }: { step: StepOut }) {
  const text = step.effective_prompt ?? "";
  return (
    <Titled title=" " aside={<CopyButton text={text} />}>
      <div className="max-h-[60vh] overflow-auto whitespace-pre-wrap break-words rounded-md bg-sunken p-3 font-mono text-xs">
        {text}
      </div>
    </Titled>
  );
}

export function LogTab({ step }: { step: StepOut }) {
  const lines = step.log as { at?: number; message?: string; details?: object }[];
  return (
    <ol className="flex flex-col gap-2 text-sm">
      {lines.map((line, at) => (
        <li key={at}>
          {line.at && (
            <span className="mr-2 text-xs text-faint tabular-nums">{dateTime(new Date(line.at / 1000))}</span>
          )}
          {line.message}
          {line.details && Object.keys(line.details).length > 0 && <ValueView value={line.details} className="mt-1" />}
        </li>
      ))}
    </ol>
  );
}

/** Ends the name of a model call that an MCP server asked for; no tool has such a name. */
const SAMPLING = ".sampling/createMessage";

export function ToolsTab({ step }: { step: StepOut }) {
  const t = useRunTexts();
  const calls = step.tool_calls as Record<string, unknown>[];
  return (
    <ol className="flex flex-col gap-3">
      {calls.map((call, at) => (
        <li key={at} className="flex flex-col gap-1.5 rounded-md border border-line p-3">
          <div className="flex items-center gap-2">
            <span className="font-mono text-sm font-medium">{String(call.name ?? "")}</span>
            {String(call.name).endsWith(SAMPLING) && <Chip>{t("model_for_server")}</Chip>}
            {typeof call.ms === "number" && <span className="ml-auto text-xs text-muted">{duration(call.ms)}</span>}
          </div>
          <ValueView value={call.arguments} />
          {Boolean(call.error) && <Callout tone="bad">{String(call.error)}</Callout>}
          {call.name === KNOWLEDGE_SEARCH && isCited(call.result) ? (
            <KnowledgeCall passages={call.result} />
          ) : (
            call.result !== undefined && <ValueView value={call.result} />
          )}
        </li>
      ))}
    </ol>
  );
}

export function AttemptsTab({ step }: { step: StepOut }) {
  const t = useRunTexts();
  return (
    <ol className="flex flex-col gap-3">
      {step.tries.map((one) => (
        <li key={one.attempt_no} className="flex flex-col gap-1.5">
          <div className="flex flex-wrap items-center gap-2 text-sm">
            <span className="font-medium">{t("attempt", { no: one.attempt_no })}</span>
            <StateChip state={one.status === "started" ? "running" : one.status} label={t(one.status as RunTextKey)} />
            <span className="text-muted">{dateTime(one.started_at)}</span>
            {one.finished_at && (
              <span className="text-muted">{duration(Date.parse(one.finished_at) - Date.parse(one.started_at))}</span>
            )}
          </div>
          {one.error && <Callout tone="bad">{one.error.message}</Callout>}
        </li>
      ))}
    </ol>
  );
}

/** The delivery of a step's output. */
export function DeliveryTab({ runId, step }: { runId: string; step: StepOut }) {
  const { may } = useRights();
  const spaceId = useDraft((state) => state.spaceId);
  const deliveries = useQuery(deliveriesQuery(runId)).data;
  const delivery = deliveries?.find((one) => one.step_id === step.step_id) ?? step.delivery;
  return delivery && <DeliveryView delivery={delivery} again={may("runs.start", spaceId)} />;
}
