import { Link } from "@tanstack/react-router";
import { ArrowUpRight, ChevronLeft, ChevronRight, X } from "lucide-react";
import { useEffect, useMemo, useRef } from "react";
import { FlowDrawing } from "@/components/flow-drawing/FlowDrawing";
import { drawing } from "@/components/flow-drawing/geometry";
import { Callout, IconButton, Skeleton } from "@/components/ui";
import { useCalledStep } from "@/lib/calledStep";
import { useDraft } from "@/lib/draft";
import { boundsOf, type Rect } from "@/lib/layout";
import { usePanels } from "@/lib/panels";
import { focusNode } from "../actions/walking";
import { FIRST_SIZE, toggleRegion } from "../model/regions";
import type { Stage } from "../model/stage";
import { type Size, useView } from "../model/view";
import { RegionState } from "./RegionState";
import { revealRect } from "./reveal";
import { useRegionTexts } from "./texts";
import { useRegion } from "./useRegion";

const [HEADER, FOOTER] = [40, 36];
/** Of the drawing: how large its steps are beside the nodes of the canvas, and how large it becomes. */
const SCALE = 0.85;
const LEAST: Size = { width: 400, height: 96 };
const MOST: Size = { width: 760, height: 400 };

interface Props {
  stage: Stage;
  id: string;
  rect: Rect;
  node: Rect;
}

/** The steps of the flow that a node runs, with their states in the run that is shown. A chosen one opens its settings. */
export function Region({ stage, id, rect, node }: Props) {
  const t = useRegionTexts();
  const templates = useDraft((state) => state.templates);
  const caller = useDraft((state) => state.flowId);
  const region = useRegion(id);
  const { flow, name, flowId, version, started } = region;
  const [selected, choose] = useChosen(stage, { caller, nodeId: id, flowId });
  const drawn = useMemo(() => (flow ? drawing(flow, templates, true) : null), [flow, templates]);
  const steps = useMemo(() => drawn?.nodes.filter((one) => one.note === null) ?? [], [drawn]);
  useSize(id, drawn);
  const box = useEntering(stage, id, rect, node);
  const statuses = useMemo(
    () => started.run && Object.fromEntries(started.run.steps.map((step) => [step.step_id, step.status])),
    [started.run],
  );
  const close = () => {
    toggleRegion(stage.store, id);
    focusNode(stage, id);
  };
  const shown = name || t("no_flow");
  const title = version === null ? t("steps_of", { name: shown }) : t("steps_of_version", { name: shown, version });
  return (
    <section
      ref={box}
      aria-label={title}
      tabIndex={-1}
      className="flex size-full cursor-auto flex-col rounded-xl border-2 border-accent/60 bg-canvas shadow-float outline-none focus-visible:ring-2 focus-visible:ring-focus"
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        close();
      }}
    >
      <header className="nopan flex shrink-0 items-center gap-1 pr-1.5 pl-3" style={{ height: HEADER }}>
        <span className="min-w-0 flex-1 truncate text-sm" title={title}>
          <span className="font-semibold">{shown}</span>
          {version !== null && <span className="ml-1.5 text-muted text-xs">{t("version", { version })}</span>}
        </span>
        {started.several && <Iterations started={started} />}
        {flowId !== null && (
          <Link
            to="/flows/$flowId"
            params={{ flowId }}
            search={{ caller }}
            aria-label={t("edit", { name })}
            title={t(region.pinned ? "edit_pinned" : "edit_more", { name, version: version ?? "" })}
            className="inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted hover:bg-hover hover:text-ink [&_svg]:size-4"
          >
            <ArrowUpRight aria-hidden />
          </Link>
        )}
        <IconButton size="sm" label={t("hide")} onClick={close}>
          <X />
        </IconButton>
      </header>
      <div className="min-h-0 flex-1 px-1.5">
        <Message {...region} />
        {flow && drawn && (
          <div className="nopan mx-auto h-full" style={{ maxWidth: drawn.width, maxHeight: drawn.height }}>
            <FlowDrawing
              compact
              flow={flow}
              templates={templates}
              title={title}
              selected={selected}
              onSelect={choose}
              {...(statuses ? { statuses } : {})}
            />
          </div>
        )}
      </div>
      <RegionState
        height={FOOTER}
        steps={flow ? steps.length : null}
        selected={steps.find((step) => step.id === selected)}
        counts={started.counts}
        run={started.run}
      />
    </section>
  );
}

/** The chosen step of the frame, whose settings are beside the canvas, until it is chosen again or they are closed. */
function useChosen(stage: Stage, of: { caller: string; nodeId: string; flowId: string | null }) {
  const { caller, nodeId, flowId } = of;
  const selected = useCalledStep(({ step }) =>
    step?.caller === caller && step.nodeId === nodeId && step.flowId === flowId ? step.stepId : undefined,
  );
  const choose = (stepId: string) => {
    if (flowId === null) return;
    useCalledStep.getState().choose(stepId === selected ? null : { caller, nodeId, flowId, stepId });
    if (stepId === selected) return;
    stage.store.getState().select([nodeId]);
    usePanels.getState().setOpen("inspector", true);
  };
  useEffect(() => {
    const forget = () => {
      const { step, choose } = useCalledStep.getState();
      if (step?.caller === caller && step.nodeId === nodeId) choose(null);
    };
    const unsubscribe = usePanels.subscribe(({ open }, before) => {
      if (before.open.inspector && !open.inspector) forget();
    });
    return () => {
      unsubscribe();
      forget();
    };
  }, [caller, nodeId]);
  return [selected, choose] as const;
}

/** What is shown in place of steps. */
function Message({ named, flow, unknown, unpublished }: ReturnType<typeof useRegion>) {
  const t = useRegionTexts();
  if (named === "") return <Callout>{t("choose_flow")}</Callout>;
  if (unknown) return <Callout tone="warn">{t("unknown_flow")}</Callout>;
  if (unpublished) return <Callout tone="warn">{t("unpublished")}</Callout>;
  return flow ? null : <Skeleton className="h-full" />;
}

/** Goes from one run of the flow to another. */
function Iterations({ started }: { started: ReturnType<typeof useRegion>["started"] }) {
  const t = useRegionTexts();
  const { number, counts, before, after } = started;
  const total = counts?.total ?? counts?.started ?? number;
  return (
    <span className="flex shrink-0 items-center text-muted text-xs tabular-nums">
      <IconButton size="sm" label={t("before")} disabled={!before} onClick={() => before?.()}>
        <ChevronLeft />
      </IconButton>
      <span className="px-0.5">{t("number_of", { number, total })}</span>
      <IconButton size="sm" label={t("after")} disabled={!after} onClick={() => after?.()}>
        <ChevronRight />
      </IconButton>
    </span>
  );
}

/** The frame is as large as the drawing needs. */
function useSize(id: string, drawn: Size | null): void {
  useEffect(() => {
    const { regions, set } = useView.getState();
    const size = drawn ? sizeOf(drawn) : FIRST_SIZE;
    const now = regions[id];
    if (!now || (now.width === size.width && now.height === size.height)) return;
    set({ regions: { ...regions, [id]: size } });
  }, [id, drawn]);
}

function sizeOf({ width, height }: Size): Size {
  const scale = Math.min(SCALE, MOST.width / width, MOST.height / height);
  return {
    width: Math.round(Math.max(width * scale, LEAST.width)),
    height: Math.round(Math.max(height * scale, LEAST.height)) + HEADER + FOOTER,
  };
}

/** Steps that were asked for come into sight, with the keyboard. */
function useEntering(stage: Stage, id: string, rect: Rect, node: Rect) {
  const box = useRef<HTMLElement>(null);
  const entering = useView((state) => state.entering === id);
  useEffect(() => {
    if (!entering) return;
    box.current?.focus({ preventScroll: true });
    useView.getState().set({ entering: null });
  }, [entering]);
  const bounds = boundsOf([rect, node]) ?? rect;
  const { width, height } = bounds;
  const latest = useRef(bounds);
  useEffect(() => {
    latest.current = bounds;
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: once it is there, and when its size is known
  useEffect(() => {
    if (box.current?.contains(document.activeElement)) revealRect(stage, latest.current);
  }, [stage, width, height]);
  return box;
}
