import { useQuery } from "@tanstack/react-query";
import { AlertTriangle, Split } from "lucide-react";
import type { KeyboardEvent } from "react";
import { modelsQuery } from "@/api/queries/models";
import { cx } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { nodeName } from "@/lib/nodeName";
import { nodeTemplate, type Wiring } from "@/lib/wiring";
import type { Lane } from "./lanes";
import { StepBody } from "./StepBody";
import { StepHead } from "./StepHead";
import { swapWithNext } from "./stepChanges";
import { useStepTexts } from "./texts";
import { type Warning, warningsAt } from "./warnings";

interface StepCardProps {
  lane: Lane;
  number: number;
  wiring: Wiring;
  open: boolean;
  onOpen: (open: boolean) => void;
  onAdded: (id: string) => void;
}

const INDENT = ["", "sm:ml-8 ml-3", "sm:ml-16 ml-6", "sm:ml-24 ml-9"];

/** One step: its name, what it does, where its input comes from and where its output goes. */
export function StepCard({ lane, number, wiring, open, onOpen, onAdded }: StepCardProps) {
  const t = useStepTexts();
  const store = useDraftStore();
  const { id } = lane;
  const name = useDraft(({ document, templates }) => {
    const node = document.nodes[id];
    return node ? nodeName(node, templates) : id;
  });
  const warnings = useWarnings(id, wiring);
  const above = (wiring.parents[id] ?? []).length === 1 ? wiring.parents[id]?.[0] : undefined;
  const move = (up: boolean) => (up ? above !== undefined && swapWithNext(store, above) : swapWithNext(store, id));
  const keys = (event: KeyboardEvent) => {
    if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
    event.preventDefault();
    move(event.key === "ArrowUp");
  };
  return (
    <li className={cx("flex flex-col gap-1.5", INDENT[Math.min(lane.depth, INDENT.length - 1)])}>
      <SplitNote lane={lane} />
      {warnings.map((one) => (
        <WarningNote key={`${one.kind} ${one.name}`} warning={one} />
      ))}
      <article
        aria-label={t("step_named", { number, name })}
        onKeyDown={keys}
        className={cx(
          "rounded-lg border bg-surface shadow-card",
          warnings.length > 0 ? "border-warn/60" : "border-line",
        )}
      >
        <StepHead
          id={id}
          name={name}
          number={number}
          wiring={wiring}
          open={open}
          onOpen={onOpen}
          onAdded={onAdded}
          onMove={move}
        />
        {open && <StepBody id={id} />}
      </article>
    </li>
  );
}

/** The way that leads to a step, where the step before has several. */
function SplitNote({ lane }: { lane: Lane }) {
  const t = useStepTexts();
  const { split } = lane;
  const told = useDraft(({ document, templates }) => {
    const node = split && document.nodes[split.from];
    if (!node) return "";
    const template = nodeTemplate(node, templates);
    const output = template?.outputs?.find((one) => one.name === split.output);
    const step = node.label || template?.label || node.id;
    return JSON.stringify({ step, output: output?.branch ? output.label || output.name : "" });
  });
  if (!told) return null;
  const { step, output } = JSON.parse(told) as { step: string; output: string };
  return (
    <p className="flex items-center gap-1.5 text-muted text-xs">
      <Split aria-hidden className="size-3.5" />
      {output ? t("branch", { step, output }) : t("branch_plain", { step })}
    </p>
  );
}

function WarningNote({ warning }: { warning: Warning }) {
  const t = useStepTexts();
  const kind = (name: string) => t(`kind_${name}` as "kind_text");
  const text =
    warning.kind === "type"
      ? t("warn_type", { name: warning.name, given: kind(warning.given), wanted: kind(warning.wanted) })
      : t(`warn_${warning.kind}`, { name: warning.name });
  return (
    <p role="status" className="flex items-start gap-2 rounded-md bg-warn-soft px-3 py-1.5 text-sm text-warn">
      <AlertTriangle aria-hidden className="mt-0.5 size-4 shrink-0" />
      {text}
    </p>
  );
}

/** Compared as text: what changes in other steps draws this card anew only when its warnings change. */
function useWarnings(id: string, wiring: Wiring): Warning[] {
  const models = useQuery(modelsQuery);
  const told = useDraft(({ document, templates }) => {
    const found = warningsAt(document, templates, wiring, models.data ?? [], id);
    return found.length > 0 ? JSON.stringify(found) : "";
  });
  return told ? (JSON.parse(told) as Warning[]) : [];
}
