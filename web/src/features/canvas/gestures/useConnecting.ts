import type { Connection, FinalConnectionState, HandleType } from "@xyflow/react";
import { useMemo } from "react";
import type { FlowEdge } from "@/api/types";
import { portsOf } from "@/lib/ports";
import { link } from "../actions/nodes";
import { beginConnecting, bestInput, canConnect, type End } from "../model/compatibility";
import type { CanvasEdge } from "../model/flowEdges";
import type { Stage } from "../model/stage";
import { useView } from "../model/view";

const edgeOf = (one: Connection | CanvasEdge): FlowEdge => ({
  source: one.source,
  output: one.sourceHandle ?? "",
  target: one.target,
  input: one.targetHandle ?? "",
});

/** Connecting by hand: what fits shows, a drop on a node finds its best port, a drop on nothing asks what fits. */
export function useConnecting(stage: Stage) {
  return useMemo(() => {
    const state = () => stage.store.getState();
    const view = () => useView.getState();
    let old: CanvasEdge | null = null;
    const begin = (nodeId: string | null, port: string | null, type: HandleType | null) => {
      if (!nodeId || !port) return;
      const end: End = { nodeId, port, side: type === "source" ? "output" : "input" };
      view().set({ connecting: beginConnecting(state().document, state().templates, end) });
    };
    const connect = (edge: FlowEdge, instead?: string) =>
      state().change({ label: stage.t("did_connect") }, (draft) => {
        if (instead) delete draft.edges[instead];
        link(draft, stage, edge);
      });
    return {
      isValidConnection: (one: Connection | CanvasEdge) =>
        canConnect(state().document, state().templates, edgeOf(one), old?.id),
      onConnectStart: (
        _event: unknown,
        from: { nodeId: string | null; handleId: string | null; handleType: HandleType | null },
      ) => begin(from.nodeId, from.handleId, from.handleType),
      onConnect: (one: Connection) => void connect(edgeOf(one)),
      onConnectEnd: (event: MouseEvent | TouchEvent, end: FinalConnectionState) => {
        const from = view().connecting;
        view().set({ connecting: null });
        if (from && !old && !end.toHandle) dropped(stage, event, from, connect);
      },
      onReconnectStart: (_event: unknown, edge: CanvasEdge, kept: HandleType) => {
        old = edge;
        const isSource = kept === "source";
        begin(isSource ? edge.source : edge.target, (isSource ? edge.sourceHandle : edge.targetHandle) ?? null, kept);
      },
      onReconnect: (edge: CanvasEdge, one: Connection) => void connect(edgeOf(one), edge.id),
      onReconnectEnd: () => {
        old = null;
        view().set({ connecting: null });
      },
    };
  }, [stage]);
}

function dropped(
  stage: Stage,
  event: MouseEvent | TouchEvent,
  from: NonNullable<ReturnType<typeof useView.getState>["connecting"]>,
  connect: (edge: FlowEdge) => unknown,
): void {
  const point = "changedTouches" in event ? event.changedTouches[0] : event;
  if (!point) return;
  const { document: flow, templates } = stage.store.getState();
  const under = document.elementFromPoint(point.clientX, point.clientY);
  const target = under?.closest<HTMLElement>(".react-flow__node")?.dataset.id;
  const node = target ? flow.nodes[target] : undefined;
  const screen = { x: point.clientX, y: point.clientY };
  if (!node) {
    if (under?.closest(".react-flow")) {
      useView.getState().set({ adding: { kind: "fit", screen, at: stage.flow.screenToFlowPosition(screen), from } });
    }
    return;
  }
  if (from.side !== "output") return;
  const taken = Object.values(flow.edges).flatMap((edge) => (edge.target === node.id ? [edge.input] : []));
  const best = bestInput(from.types[0], portsOf(node, templates[node.type]).inputs, taken);
  const edge = best && { source: from.nodeId, output: from.port, target: node.id, input: best.port };
  if (edge && canConnect(flow, templates, edge)) connect(edge);
}
