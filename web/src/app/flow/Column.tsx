import { Suspense, useEffect, useState } from "react";
import { cx, Skeleton } from "@/components/ui";
import { AssistantDock } from "@/features/assistant";
import { useNarrow } from "@/lib/narrow";
import { type Tenant, usePanels } from "@/lib/panels";
import { part } from "@/lib/part";
import { useRested } from "@/lib/rested";
import { readStored } from "@/lib/storage";
import { useAppTexts } from "../texts";
import { ColumnEdge, ColumnTabs } from "./ColumnParts";
import { type FlowPlace, useColumn, useFlowRights } from "./place";
import { usePins } from "./usePins";

const Inspector = part(() => import("./ColumnInspector"));
const RunPanel = part(async () => ({ default: (await import("@/features/runs/panel/RunPanel")).RunPanel }));

const USUAL_WIDTH = 400;
/** How much of a narrow screen the sheet takes: the canvas stays in sight behind a node's settings. */
const SHEETS: Record<Tenant, string> = { inspector: "h-[68%]", run: "h-[86%]", assistant: "h-[92%]" };
const COVERED: Record<Tenant, number> = { inspector: 0.68, run: 0.86, assistant: 0.92 };

/** The one column beside the flow: a node, the run, or the assistant, whichever was asked for last. */
export function Column({ place }: { place: FlowPlace }) {
  const t = useAppTexts();
  const narrow = useNarrow();
  const tenants = useColumn(place);
  const docked = usePanels((state) => state.docked);
  const shown = tenants.at(-1) ?? null;
  const [width, setWidth] = useState(() => readStored("column.width", USUAL_WIDTH));
  const taken = shown && !narrow ? width : 0;
  const sheet = shown && narrow ? COVERED[shown] : 0;
  useEffect(() => usePanels.getState().setTaken(taken, sheet), [taken, sheet]);
  const running = useRested(shown === "run");
  usePins();
  return (
    <div className={frameOf(shown, narrow)} style={taken ? { width } : undefined}>
      {shown && !narrow && <ColumnEdge width={width} onWidth={setWidth} label={t("resize_column")} />}
      {tenants.length > 1 && <ColumnTabs tenants={tenants} />}
      <Suspense fallback={shown === "inspector" ? <Waiting /> : null}>
        {shown === "inspector" && <Inspector />}
      </Suspense>
      <Suspense fallback={shown === "run" ? <Waiting /> : null}>
        {running && <RunPanel shown={shown === "run"} />}
      </Suspense>
      <Asking beside={docked || narrow} hidden={(docked || narrow) && shown !== "assistant"} />
    </div>
  );
}

/** The assistant changes flows: it is for who may. */
function Asking(place: { beside: boolean; hidden: boolean }) {
  const { asks } = useFlowRights();
  return asks ? <AssistantDock {...place} /> : null;
}

function frameOf(shown: Tenant | null, narrow: boolean): string {
  // Nothing stands here; what floats keeps its place in the tree.
  if (!shown) return "contents";
  return cx(
    "absolute z-20 flex min-h-0 flex-col overflow-hidden border-line bg-surface",
    narrow
      ? `inset-x-0 bottom-0 animate-rise rounded-t-xl border-t shadow-modal ${SHEETS[shown]}`
      : "inset-y-0 right-0 border-l max-lg:shadow-modal lg:relative lg:inset-auto lg:shrink-0",
  );
}

const Waiting = () => (
  <div aria-hidden className="flex flex-1 flex-col gap-4 p-4">
    <Skeleton className="h-6 w-40" />
    <Skeleton className="h-24 w-full" />
    <Skeleton className="h-9 w-full" />
  </div>
);
