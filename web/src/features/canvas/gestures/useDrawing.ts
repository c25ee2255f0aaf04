import type { EdgeChange, NodeChange, OnNodeDrag } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useDraftParts } from "@/lib/draft";
import { withMembers } from "../actions/places";
import { type CanvasEdge, createFlowEdges } from "../model/flowEdges";
import { type CanvasNode, createFlowNodes, type Overlay } from "../model/flowNodes";
import { createLanes } from "../model/lanes";
import type { Stage } from "../model/stage";

type Overlays = Readonly<Record<string, Overlay>>;
const NONE: Overlays = {};
const STILL: ReadonlySet<string> = new Set();

/** What is drawn: the draft, and over it the places that a drag gives its nodes until they are dropped. */
export function useDrawing(stage: Stage) {
  const { document, templates, selectedNodes, selectedEdges } = useDraftParts((state) => ({
    document: state.document,
    templates: state.templates,
    selectedNodes: state.selectedNodes,
    selectedEdges: state.selectedEdges,
  }));
  const [overlay, setOverlay] = useState<Overlays>(NONE);
  const [draw] = useState(createFlowNodes);
  const [drawEdges] = useState(createFlowEdges);
  const [addLanes] = useState(createLanes);
  const nodes = draw({ document, templates, selected: selectedNodes, overlay });
  stage.drawn.nodes = nodes;
  // Lanes are found when nothing is being dragged.
  const edges = addLanes(drawEdges(document, templates, selectedEdges), nodes, overlay === NONE);
  const ids = Object.keys(overlay).join(" ");
  const moving = useMemo(() => (ids ? new Set(ids.split(" ")) : STILL), [ids]);
  return { nodes, edges, moving, setOverlay, handlers: useHandlers(stage, overlay, setOverlay) };
}

function useHandlers(stage: Stage, overlay: Overlays, setOverlay: (next: Overlays) => void) {
  const latest = useRef(overlay);
  const carried = useRef<{ lead: string; start: Record<string, { x: number; y: number }> } | null>(null);
  useEffect(() => {
    latest.current = overlay;
  }, [overlay]);
  const put = useCallback(
    (next: Overlays) => {
      latest.current = next;
      setOverlay(next);
    },
    [setOverlay],
  );
  const onNodesChange = useCallback(
    (changes: NodeChange<CanvasNode>[]) => {
      const next: Record<string, Overlay> = { ...latest.current };
      const changed = changes.map((change) => gesture(stage, next, change)).includes(true);
      select(stage, changes);
      if (!changed) return;
      carry(next, carried.current);
      put(next);
    },
    [stage, put],
  );
  const onEdgesChange = useCallback((changes: EdgeChange<CanvasEdge>[]) => selectEdges(stage, changes), [stage]);
  const onNodeDragStart: OnNodeDrag<CanvasNode> = useCallback(
    (_event, node, dragged) => {
      const ids = dragged.map((one) => one.id);
      const more = withMembers(stage, ids).filter((id) => !ids.includes(id));
      const start: Record<string, { x: number; y: number }> = {};
      for (const id of [node.id, ...more]) {
        const found = stage.drawn.nodes.find((one) => one.id === id);
        if (found) start[id] = found.position;
      }
      carried.current = { lead: node.id, start };
    },
    [stage],
  );
  const onNodeDragStop: OnNodeDrag<CanvasNode> = useCallback(() => {
    const positions: Record<string, { x: number; y: number }> = {};
    for (const [id, { x, y }] of Object.entries(latest.current)) {
      if (x !== undefined && y !== undefined) positions[id] = { x, y };
    }
    carried.current = null;
    if (Object.keys(positions).length > 0) stage.store.getState().moveNodes(positions);
    put(NONE);
  }, [stage, put]);
  return {
    onNodesChange,
    onEdgesChange,
    onNodeDragStart,
    onNodeDragStop,
    onSelectionDragStart: useCallback(
      (event: React.MouseEvent, dragged: CanvasNode[]) =>
        dragged[0] && onNodeDragStart(event.nativeEvent, dragged[0], dragged),
      [onNodeDragStart],
    ),
    onSelectionDragStop: useCallback(
      (event: React.MouseEvent, dragged: CanvasNode[]) =>
        dragged[0] && onNodeDragStop(event.nativeEvent, dragged[0], dragged),
      [onNodeDragStop],
    ),
  };
}

/** Takes what a gesture does to a node into the overlay; a size that somebody let go of goes into the draft. */
function gesture(stage: Stage, next: Record<string, Overlay>, change: NodeChange<CanvasNode>): boolean {
  if (change.type === "position" && change.position && change.dragging !== false) {
    next[change.id] = { ...next[change.id], ...change.position };
    return true;
  }
  if (change.type !== "dimensions" || !change.dimensions || change.resizing === undefined) return false;
  const size = { ...next[change.id], ...change.dimensions };
  if (change.resizing) next[change.id] = size;
  else {
    resized(stage, change.id, size);
    delete next[change.id];
  }
  return true;
}

/** What stands in a dragged frame goes as far as the frame. */
function carry(
  next: Record<string, Overlay>,
  carried: { lead: string; start: Record<string, { x: number; y: number }> } | null,
) {
  const from = carried?.start[carried.lead];
  const to = carried ? next[carried.lead] : undefined;
  if (!carried || !from || to?.x === undefined || to.y === undefined) return;
  for (const [id, start] of Object.entries(carried.start)) {
    if (id !== carried.lead) next[id] = { x: start.x + to.x - from.x, y: start.y + to.y - from.y };
  }
}

function resized(stage: Stage, id: string, { x, y, width, height }: Overlay): void {
  stage.store.getState().change({ label: stage.t("did_resize") }, (draft) => {
    const node = draft.nodes[id];
    if (!node) return;
    if (x !== undefined && y !== undefined) node.position = { x: Math.round(x), y: Math.round(y) };
    if (width && height) node.params = { ...node.params, width: Math.round(width), height: Math.round(height) };
  });
}

function select(stage: Stage, changes: NodeChange<CanvasNode>[]): void {
  const picked = changes.filter((change) => change.type === "select");
  if (picked.length === 0) return;
  const { selectedNodes, selectedEdges, select } = stage.store.getState();
  const chosen = new Set(selectedNodes);
  for (const change of picked) {
    if (change.selected) chosen.add(change.id);
    else chosen.delete(change.id);
  }
  select([...chosen], selectedEdges);
}

function selectEdges(stage: Stage, changes: EdgeChange<CanvasEdge>[]): void {
  const picked = changes.filter((change) => change.type === "select");
  if (picked.length === 0) return;
  const { selectedNodes, selectedEdges, select } = stage.store.getState();
  const chosen = new Set(selectedEdges);
  for (const change of picked) {
    if (change.selected) chosen.add(change.id);
    else chosen.delete(change.id);
  }
  select(selectedNodes, [...chosen]);
}
