import { EdgeLabelRenderer, type EdgeProps } from "@xyflow/react";
import { Plus, X } from "lucide-react";
import { memo } from "react";
import { cx } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import type { CanvasEdge } from "../model/flowEdges";
import { middleOf, route } from "../model/paths";
import { useView } from "../model/view";
import { useCanvasTexts } from "../texts";
import { edgeState } from "./edgeState";

/** An edge: data is drawn solid, what configures a step dashed; what runs moves, what was not taken fades. */
export const FlowEdge = memo(function FlowEdge(props: EdgeProps<CanvasEdge>) {
  const { id, source, target, data, selected } = props;
  const state = useDraft(({ nodeRuns }) => edgeState(nodeRuns[source], nodeRuns[target]));
  const count = useDraft(({ nodeRuns }) =>
    state === "done" ? nodeRuns[source]?.items?.[props.sourceHandleId ?? ""] : undefined,
  );
  const from = { x: props.sourceX + 6, y: props.sourceY };
  const to = { x: props.targetX - 6, y: props.targetY };
  const path = route({ ...from, x: props.sourceX }, { ...to, x: props.targetX }, data?.lane);
  const middle = middleOf(from, to, data?.lane);
  return (
    <>
      <path d={path} className="react-flow__edge-interaction" fill="none" strokeOpacity={0} strokeWidth={18} />
      <path
        d={path}
        id={id}
        fill="none"
        className={cx("wire", `wire-${data?.kind ?? "data"}`, `wire-${state}`, selected && "wire-selected")}
      />
      {count !== undefined && !selected && <ItemCount count={count} at={middle} />}
      {selected && <EdgeButtons id={id} at={middle} />}
    </>
  );
});

/** How many items passed over the edge in the run that is shown. */
function ItemCount({ count, at }: { count: number; at: { x: number; y: number } }) {
  const t = useCanvasTexts();
  return (
    <EdgeLabelRenderer>
      <span
        className="pointer-events-none absolute rounded-full border border-line bg-raised px-1.5 text-2xs text-muted tabular-nums"
        style={{ transform: `translate(-50%, -50%) translate(${at.x}px, ${at.y}px)` }}
      >
        {t("items", { count })}
      </span>
    </EdgeLabelRenderer>
  );
}

function EdgeButtons({ id, at }: { id: string; at: { x: number; y: number } }) {
  const t = useCanvasTexts();
  const store = useDraftStore();
  const editable = useDraft((state) => state.editable);
  if (!editable) return null;
  const look =
    "inline-flex size-6 items-center justify-center rounded-full border border-line-strong bg-raised text-muted shadow-low hover:text-ink [&_svg]:size-3.5";
  const insert = (event: React.MouseEvent) => {
    const edge = store.getState().document.edges[id];
    if (edge) {
      const screen = { x: event.clientX, y: event.clientY };
      useView.getState().set({ adding: { kind: "insert", screen, at, edgeId: id, edge } });
    }
  };
  return (
    <EdgeLabelRenderer>
      <div
        className="nodrag nopan pointer-events-auto absolute z-[1001] flex gap-1"
        style={{ transform: `translate(-50%, -50%) translate(${at.x}px, ${at.y}px)` }}
      >
        <button type="button" aria-label={t("insert")} title={t("insert")} className={look} onClick={insert}>
          <Plus />
        </button>
        <button
          type="button"
          aria-label={t("disconnect")}
          title={t("disconnect")}
          className={look}
          onClick={() => {
            store.getState().change({ label: t("did_disconnect") }, (draft) => {
              delete draft.edges[id];
            });
            store.getState().clearSelection();
          }}
        >
          <X />
        </button>
      </div>
    </EdgeLabelRenderer>
  );
}
