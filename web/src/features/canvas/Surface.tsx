import { Background, BackgroundVariant, ReactFlow, type Viewport } from "@xyflow/react";
import { type ComponentType, memo, Suspense, useCallback, useMemo } from "react";
import { useDraft } from "@/lib/draft";
import { usePanels } from "@/lib/panels";
import { part } from "@/lib/part";
import { ConnectionLine } from "./edges/ConnectionLine";
import { FlowEdge } from "./edges/FlowEdge";
import { useFarGestures } from "./far/useFarGestures";
import { useConnecting } from "./gestures/useConnecting";
import { useDrawing } from "./gestures/useDrawing";
import { useDropping } from "./gestures/useDropping";
import { useViewport } from "./gestures/useViewport";
import type { CanvasNode } from "./model/flowNodes";
import type { Stage } from "./model/stage";
import { useView } from "./model/view";
import { GroupNode } from "./nodes/GroupNode";
import { NoteNode } from "./nodes/NoteNode";
import { StepNode } from "./nodes/StepNode";

const FarCanvas = part(() => import("./far/FarCanvas"));
const Regions = part(() => import("./region/Regions"));

const NODES = { step: StepNode, note: NoteNode, frame: GroupNode };
const EDGES = { flow: FlowEdge };
const NONE: never[] = [];
const UNDER_WAY = ["queued", "running", "waiting", "paused"];
const ADD_TO_SELECTION = ["Shift", "Meta", "Control"];
const PRO = { hideAttribution: true };

/** What is drawn at the start of the flow. */
export type Before = ComponentType<{ stage: Stage; nodes: readonly CanvasNode[] }>;

interface Props {
  stage: Stage;
  start: Viewport;
  Before: Before | undefined;
}

/** The flow as React Flow draws it. Sizes and ports are reckoned, never measured. */
export const Surface = memo(function Surface({ stage, start, Before }: Props) {
  const far = useView((state) => state.far);
  const locked = useView((state) => state.locked);
  const regions = useView((state) => Object.keys(state.regions).length > 0);
  const editable = useDraft((state) => state.editable) && !locked;
  const { nodes, edges, moving, handlers, setOverlay } = useDrawing(stage);
  const { handlers: farHandlers, box } = useFarGestures(stage, setOverlay);
  const connecting = useConnecting(stage);
  const dropping = useDropping(stage);
  const viewport = useViewport(stage);
  // Who clicks on a node wants to see what can be set of it; a run that goes on keeps its place.
  const inspect = useCallback(() => {
    const { offer, setOpen } = usePanels.getState();
    const status = stage.store.getState().shownRun?.status;
    if (UNDER_WAY.includes(status ?? "")) offer("inspector");
    else setOpen("inspector", true);
  }, [stage]);
  const labels = useMemo(
    () => ({
      "node.a11yDescription.default": stage.t("node_keys"),
      "edge.a11yDescription.default": stage.t("edge_keys"),
    }),
    [stage],
  );
  return (
    <div className="absolute inset-0" {...farHandlers}>
      {far && (
        <Suspense>
          <FarCanvas nodes={nodes} edges={edges} moving={moving} />
        </Suspense>
      )}
      <ReactFlow
        nodes={far ? NONE : nodes}
        edges={far ? NONE : edges}
        nodeTypes={NODES}
        edgeTypes={EDGES}
        defaultViewport={start}
        onlyRenderVisibleElements
        connectionLineComponent={ConnectionLine}
        connectionRadius={28}
        minZoom={0.05}
        maxZoom={2}
        nodesDraggable={editable}
        nodesConnectable={editable}
        edgesReconnectable={editable}
        elementsSelectable={!locked}
        panOnDrag={!locked}
        zoomOnScroll={!locked}
        zoomOnPinch={!locked}
        zoomOnDoubleClick={false}
        deleteKeyCode={null}
        selectionKeyCode="Shift"
        multiSelectionKeyCode={ADD_TO_SELECTION}
        disableKeyboardA11y
        nodesFocusable
        edgesFocusable
        elevateNodesOnSelect={false}
        nodeDragThreshold={2}
        ariaLabelConfig={labels}
        proOptions={PRO}
        onNodeClick={inspect}
        {...handlers}
        {...connecting}
        {...dropping}
        {...viewport}
      >
        {!far && <Background variant={BackgroundVariant.Dots} gap={24} size={1.5} color="var(--line-strong)" />}
        <Suspense>{Before && !far && <Before stage={stage} nodes={nodes} />}</Suspense>
        <Suspense>{regions && !far && <Regions stage={stage} nodes={nodes} />}</Suspense>
      </ReactFlow>
      {box && (
        <div
          className="pointer-events-none fixed z-20 border border-selected bg-selected/10"
          style={{ left: box.x, top: box.y, width: box.width, height: box.height }}
        />
      )}
    </div>
  );
});
