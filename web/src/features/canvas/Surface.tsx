import { Background, BackgroundVariant, ReactFlow } from "@xyflow/react";
import { memo, useMemo } from "react";
import { useDraft } from "@/lib/draft";
import { ConnectionLine } from "./edges/ConnectionLine";
import { FarEdges } from "./edges/FarEdges";
import { FlowEdge } from "./edges/FlowEdge";
import { useConnecting } from "./gestures/useConnecting";
import { useDrawing } from "./gestures/useDrawing";
import { useDropping } from "./gestures/useDropping";
import { useViewport } from "./gestures/useViewport";
import type { Stage } from "./model/stage";
import { useView } from "./model/view";
import { GroupNode } from "./nodes/GroupNode";
import { NoteNode } from "./nodes/NoteNode";
import { StepNode } from "./nodes/StepNode";

const NODES = { step: StepNode, note: NoteNode, group: GroupNode };
const EDGES = { flow: FlowEdge };
const NO_EDGES: never[] = [];
const ADD_TO_SELECTION = ["Shift", "Meta", "Control"];
const PRO = { hideAttribution: true };

/** The flow as React Flow draws it. Sizes and ports are reckoned, never measured. */
export const Surface = memo(function Surface({ stage }: { stage: Stage }) {
  const far = useView((state) => state.far);
  const locked = useView((state) => state.locked);
  const editable = useDraft((state) => state.editable) && !locked;
  const { nodes, edges, moving, handlers } = useDrawing(stage);
  const connecting = useConnecting(stage);
  const dropping = useDropping(stage);
  const viewport = useViewport(stage);
  const labels = useMemo(
    () => ({
      "node.a11yDescription.default": stage.t("node_keys"),
      "edge.a11yDescription.default": stage.t("edge_keys"),
    }),
    [stage],
  );
  return (
    <ReactFlow
      nodes={nodes}
      edges={far ? NO_EDGES : edges}
      nodeTypes={NODES}
      edgeTypes={EDGES}
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
      {...handlers}
      {...connecting}
      {...dropping}
      {...viewport}
    >
      {far ? (
        <FarEdges edges={edges} nodes={nodes} moving={moving} />
      ) : (
        <Background variant={BackgroundVariant.Dots} gap={24} size={1.5} color="var(--line)" />
      )}
    </ReactFlow>
  );
});
