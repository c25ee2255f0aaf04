import type { FlowEdge, FlowNode, StepPolicy, Template } from "@/api/types";
import { toast } from "@/components/ui";
import { copied, pasteInto, readClip, written } from "@/lib/clipboard";
import { copyText } from "@/lib/copyText";
import { type Document, edgeId, emptyNode, freeId } from "@/lib/draft";
import { boundsOf, freePlace, type Rect } from "@/lib/layout";
import { nodeName } from "@/lib/nodeName";
import { usePanels } from "@/lib/panels";
import { portsOf, portsOfType } from "@/lib/ports";
import { configures, mainField, mainOutput } from "@/lib/wiring";
import { cardOf } from "../model/card";
import { bestPort } from "../model/compatibility";
import { middle, rects, type Stage, selectedRects } from "../model/stage";
import type { Adding, Spot } from "../model/view";
import { focusNode } from "./walking";

const NO_PORTS = { inputs: [], outputs: [] };

function newNode(id: string, type: string, at: Spot, params: FlowNode["params"] = {}): FlowNode {
  return { ...emptyNode(), id, type, position: { x: Math.round(at.x), y: Math.round(at.y) }, params };
}

/**
 * Put a component on the canvas, where somebody points or where there is room: then right of the one selected node, whose
 * output leads to it where it fits. One step to undo.
 */
export function add(stage: Stage, template: Template, at: Spot | null, params?: FlowNode["params"]): string {
  const state = stage.store.getState();
  const id = freeId(template.type, state.document.nodes);
  const size = cardOf(newNode(id, template.type, { x: 0, y: 0 }, params), template, NO_PORTS);
  const place = at ?? freeSpot(stage, size);
  const node = newNode(id, template.type, place, params);
  const edge = at ? null : edgeFromSelected(stage, id, template);
  state.change({ label: stage.t("did_add", { name: template.label }) }, (draft) => {
    put(draft, node);
    if (edge) link(draft, stage, edge);
  });
  state.select([id]);
  return id;
}

/** From the output whose type the main input takes first, else from the main output to it. */
function edgeFromSelected(stage: Stage, target: string, template: Template): FlowEdge | null {
  const { selectedNodes, document, templates } = stage.store.getState();
  const [source, ...others] = selectedNodes;
  const node = source && others.length === 0 ? document.nodes[source] : undefined;
  if (!source || !node) return null;
  const main = mainOutput(templates[node.type])?.name;
  const edges = portsOf(node, templates[node.type]).outputs.flatMap(({ name, type }) => {
    const input = type && !configures(type) ? bestPort({ side: "output", types: [type] }, template)?.port : null;
    if (!input) return [];
    const port = portsOfType(template).inputs.find((one) => one.name === input);
    const rank = port?.types[0] === type ? (port.main ? 0 : 2) : name === main ? 1 : 3;
    return [{ edge: { source, output: name, target, input }, rank }];
  });
  return edges.sort((one, other) => one.rank - other.rank)[0]?.edge ?? null;
}

/** Right of what is selected, else in the middle of the view. */
function freeSpot(stage: Stage, size: { width: number; height: number }): Spot {
  const chosen = boundsOf(Object.values(selectedRects(stage)));
  const center = middle(stage);
  const wish = chosen
    ? { x: chosen.x + chosen.width + 90, y: chosen.y }
    : { x: center.x - size.width / 2, y: center.y - size.height / 2 };
  const frames = new Set(stage.drawn.nodes.filter((node) => node.type === "frame").map((node) => node.id));
  const taken = Object.entries(rects(stage)).flatMap(([id, rect]) => (frames.has(id) ? [] : [rect]));
  return freePlace({ ...wish, ...{ width: size.width, height: size.height } } as Rect, taken);
}

function put(draft: Document, node: FlowNode): void {
  draft.nodes[node.id] = node;
  draft.order.push(node.id);
}

/** Add what was chosen from a list, in one step to undo, and offer its settings. */
export function addChosen(stage: Stage, adding: Adding, template: Template): void {
  usePanels.getState().offer("inspector");
  if (adding.kind === "node") {
    const added = add(stage, template, adding.at);
    return void setTimeout(() => focusNode(stage, added), 0);
  }
  const state = stage.store.getState();
  const id = freeId(template.type, state.document.nodes);
  const node = newNode(id, template.type, adding.at);
  const card = cardOf(node, template, NO_PORTS);
  const label = stage.t("did_add", { name: template.label });
  if (adding.kind === "insert") {
    node.position = { x: Math.round(adding.at.x - card.width / 2), y: Math.round(adding.at.y - card.height / 2) };
    state.change({ label }, (draft) => insert(draft, node, adding, stage, template));
  } else {
    const best = bestPort(adding.from, template);
    const isOutput = adding.from.side === "output";
    const port = [...(isOutput ? card.inputs : card.outputs)].find((one) => one.name === best?.port);
    const y = adding.at.y - (port?.y ?? 40);
    node.position = { x: Math.round(isOutput ? adding.at.x : adding.at.x - card.width), y: Math.round(y) };
    const near = { nodeId: adding.from.nodeId, port: adding.from.port };
    const edge: FlowEdge = isOutput
      ? { source: near.nodeId, output: near.port, target: id, input: best?.port ?? "" }
      : { source: id, output: best?.port ?? "", target: near.nodeId, input: near.port };
    state.change({ label }, (draft) => {
      put(draft, node);
      if (best) link(draft, stage, edge);
    });
  }
  setTimeout(() => focusNode(stage, id), 0);
}

function insert(
  draft: Document,
  node: FlowNode,
  adding: Adding & { kind: "insert" },
  stage: Stage,
  template: Template,
) {
  const { edge } = adding;
  put(draft, node);
  const ends = stage.store.getState();
  const source = draft.nodes[edge.source];
  const target = draft.nodes[edge.target];
  if (!source || !target) return;
  const types = portsOf(source, ends.templates[source.type]).outputs.find((one) => one.name === edge.output)?.type;
  const wanted =
    portsOf(target, ends.templates[target.type]).inputs.find((one) => one.name === edge.input)?.types ?? [];
  const into = types ? bestPort({ side: "output", types: [types] }, template) : null;
  const out = bestPort({ side: "input", types: wanted }, template);
  delete draft.edges[adding.edgeId];
  if (into) link(draft, stage, { source: edge.source, output: edge.output, target: node.id, input: into.port });
  if (out) link(draft, stage, { source: node.id, output: out.port, target: edge.target, input: edge.input });
}

/** Connect in a draft; an input that takes one edge loses the one it had. */
export function link(draft: Document, stage: Stage, edge: FlowEdge): void {
  const type = draft.nodes[edge.target]?.type ?? "";
  const field = stage.store.getState().templates[type]?.fields?.find((one) => one.name === edge.input);
  for (const [key, other] of Object.entries(draft.edges)) {
    if (!field?.many && other.target === edge.target && other.input === edge.input) delete draft.edges[key];
  }
  draft.edges[edgeId(edge)] = edge;
}

export function removeSelected(stage: Stage): void {
  const { selectedNodes, selectedEdges, document, change, select } = stage.store.getState();
  const [first] = selectedNodes;
  const gone = new Set(selectedNodes);
  const only = first ? document.nodes[first] : undefined;
  const name = only ? nodeName(only, stage.store.getState().templates) : "";
  const label =
    selectedNodes.length === 1
      ? stage.t("did_remove", { name })
      : selectedNodes.length > 1
        ? stage.t("did_remove_many", { count: selectedNodes.length })
        : stage.t("did_disconnect");
  const done = change({ label }, (draft) => {
    for (const id of selectedEdges) delete draft.edges[id];
    if (gone.size === 0) return;
    for (const id of gone) delete draft.nodes[id];
    draft.order = draft.order.filter((id) => !gone.has(id));
    for (const [key, edge] of Object.entries(draft.edges)) {
      if (gone.has(edge.source) || gone.has(edge.target)) delete draft.edges[key];
    }
  });
  select([]);
  if (done && gone.size > 0) toast({ title: label, action: { label: stage.t("undo"), onClick: () => undo(stage) } });
}

export function undo(stage: Stage): void {
  const entry = stage.store.getState().undo();
  if (entry) toast({ title: stage.t("undone", { what: entry.label }) });
}

export function redo(stage: Stage): void {
  const entry = stage.store.getState().redo();
  if (entry) toast({ title: stage.t("redone", { what: entry.label }) });
}

/** What was copied in this window last: browsers may not let a page read the clipboard, or of plain http have none. */
let kept: string | null = null;

export async function copy(stage: Stage): Promise<number> {
  const { document, selectedNodes } = stage.store.getState();
  if (selectedNodes.length === 0) return 0;
  kept = written(copied(document, selectedNodes));
  // Refused, it can still be pasted in this window.
  await copyText(kept).catch(() => undefined);
  return selectedNodes.length;
}

export async function cut(stage: Stage): Promise<void> {
  if ((await copy(stage)) > 0) removeSelected(stage);
}

export async function pasteFromClipboard(stage: Stage): Promise<void> {
  const read = await navigator.clipboard?.readText().catch(() => null);
  const text = read ?? kept;
  if (text !== null) pasteText(stage, text);
  else toast({ title: stage.t("no_clipboard"), detail: stage.t("no_clipboard_more") });
}

/** Put what somebody copied here. Text that is no part of a flow is told of and left alone. */
function pasteText(stage: Stage, text: string): boolean {
  const clip = readClip(text);
  if (!clip) {
    toast({ title: stage.t("nothing_to_paste"), detail: stage.t("nothing_to_paste_more") });
    return false;
  }
  const around = boundsOf(clip.nodes.map((node) => ({ ...place(node), width: 260, height: 140 })));
  const center = middle(stage);
  const offset = around
    ? { x: center.x - around.x - around.width / 2, y: center.y - around.y - around.height / 2 }
    : { x: 0, y: 0 };
  putClip(stage, clip, offset, stage.t("did_paste", { count: clip.nodes.length }));
  return true;
}

const place = (node: FlowNode): Spot => ({ x: node.position?.x ?? 0, y: node.position?.y ?? 0 });

export function duplicate(stage: Stage, ids = stage.store.getState().selectedNodes): void {
  const { document } = stage.store.getState();
  if (ids.length === 0) return;
  putClip(stage, copied(document, ids), { x: 40, y: 40 }, stage.t("did_duplicate", { count: ids.length }));
}

/** Disable what is selected, or enable it where all of it is disabled. */
export function toggleDisabled(stage: Stage, ids = stage.store.getState().selectedNodes): void {
  const { document, templates } = stage.store.getState();
  const nodes = ids.flatMap((id) => document.nodes[id] ?? []).filter((node) => !templates[node.type]?.annotation);
  if (nodes.length === 0) return;
  const enabling = nodes.every((node) => (node.policy?.disabled ?? "no") !== "no");
  const label = stage.t(enabling ? "did_enable" : "did_disable", { count: nodes.length });
  stage.store.getState().change({ label }, (draft) => {
    for (const { id, type } of nodes) {
      const node = draft.nodes[id];
      if (!node) continue;
      const through = mainField(templates[type]) && mainOutput(templates[type]);
      const disabled = enabling ? "no" : through ? "pass_through" : "skip";
      node.policy = { ...emptyNode().policy, ...node.policy, disabled } as StepPolicy;
    }
  });
}

function putClip(stage: Stage, clip: Parameters<typeof pasteInto>[1], offset: Spot, label: string): void {
  const state = stage.store.getState();
  let ids: string[] = [];
  state.change({ label }, (draft) => {
    ids = pasteInto(draft, clip, offset);
  });
  state.select(ids);
}
