import type { FlowNode } from "@/api/types";
import { type Document, emptyNode, freeId } from "@/lib/draft";
import { type Alignment, type Axis, align, around, arrange, distribute, type Rect } from "@/lib/layout";
import { membersOf } from "../model/groups";
import { withRegions } from "../model/regions";
import { middle, rects, type Stage, selectedRects, show } from "../model/stage";

type Points = Record<string, { x: number; y: number }>;

function moved(draft: Document, positions: Points): void {
  for (const [id, position] of Object.entries(positions)) {
    const node = draft.nodes[id];
    if (node) node.position = { x: Math.round(position.x), y: Math.round(position.y) };
  }
}

function framed(draft: Document, id: string, rect: Rect): void {
  const node = draft.nodes[id];
  if (!node) return;
  node.position = { x: Math.round(rect.x), y: Math.round(rect.y) };
  node.params = { ...node.params, width: Math.round(rect.width), height: Math.round(rect.height) };
}

export function alignSelected(stage: Stage, how: Alignment): void {
  const positions = align(selectedRects(stage), how);
  stage.store.getState().change({ label: stage.t("did_align") }, (draft) => moved(draft, positions));
}

export function distributeSelected(stage: Stage, axis: Axis): void {
  const positions = distribute(selectedRects(stage), axis);
  stage.store.getState().change({ label: stage.t("did_distribute") }, (draft) => moved(draft, positions));
}

function groupsOf(stage: Stage): string[] {
  return stage.drawn.nodes.flatMap((node) => (node.type === "frame" ? [node.id] : []));
}

/** A frame around what is selected; without a selection an empty one. */
export function groupSelected(stage: Stage): void {
  const state = stage.store.getState();
  const inside = Object.values(selectedRects(stage));
  const center = middle(stage);
  const rect = inside.length > 0 ? around(inside) : { x: center.x - 320, y: center.y - 180, width: 640, height: 360 };
  const id = freeId("group", state.document.nodes);
  const group: FlowNode = { ...emptyNode(), id, type: "Group", params: { title: stage.t("group") } };
  state.change({ label: stage.t("did_group") }, (draft) => {
    draft.nodes[id] = group;
    draft.order.push(id);
    framed(draft, id, rect);
  });
  state.select([id]);
}

/** Take the selected frames away and leave what stands in them. */
export function ungroup(stage: Stage): void {
  const state = stage.store.getState();
  const frames = new Set(groupsOf(stage));
  const gone = state.selectedNodes.filter((id) => frames.has(id));
  const inside = gone.flatMap((id) => membersOf([...frames], rects(stage))[id] ?? []);
  state.change({ label: stage.t("did_ungroup") }, (draft) => {
    for (const id of gone) delete draft.nodes[id];
    draft.order = draft.order.filter((id) => !gone.includes(id));
  });
  state.select(inside);
}

export function addNote(stage: Stage): void {
  const state = stage.store.getState();
  const center = middle(stage);
  const id = freeId("note", state.document.nodes);
  const position = { x: Math.round(center.x - 130), y: Math.round(center.y - 80) };
  state.change({ label: stage.t("did_note") }, (draft) => {
    draft.nodes[id] = { ...emptyNode(), id, type: "Note", position };
    draft.order.push(id);
  });
  state.select([id]);
}

/** Put everything, or what is selected, in order from left to right. One step to undo. */
export async function layOut(stage: Stage): Promise<void> {
  const state = stage.store.getState();
  const held = membersOf(groupsOf(stage), rects(stage));
  const chosen = state.selectedNodes.length > 1 ? state.selectedNodes : state.document.order;
  const found = await arrange(state.document, withRegions(rects(stage)), held, chosen);
  stage.store.getState().change({ label: stage.t("did_layout") }, (draft) => {
    moved(draft, found.positions);
    for (const [id, rect] of Object.entries(found.frames)) framed(draft, id, rect);
  });
  if (chosen === state.document.order) requestAnimationFrame(() => show(stage));
}

const STEPS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Move what is selected with the arrow keys; false where there is nothing to move. */
export function nudge(stage: Stage, key: string, far: boolean): boolean {
  const step = STEPS[key];
  const state = stage.store.getState();
  if (!step || state.selectedNodes.length === 0 || !state.editable) return false;
  const by = far ? 64 : 8;
  const positions: Points = {};
  for (const id of withMembers(stage, state.selectedNodes)) {
    const { x = 0, y = 0 } = state.document.nodes[id]?.position ?? {};
    positions[id] = { x: x + step[0] * by, y: y + step[1] * by };
  }
  state.moveNodes(positions);
  return true;
}

/** Nodes, and with the frames among them what stands in them. */
export function withMembers(stage: Stage, ids: readonly string[]): string[] {
  const frames = groupsOf(stage);
  if (!ids.some((id) => frames.includes(id))) return [...ids];
  const held = membersOf(frames, rects(stage));
  return [...new Set(ids.flatMap((id) => [id, ...(held[id] ?? [])]))];
}
