import type { FieldTemplate, FlowNode, PortType, Template } from "@/api/types";
import { type InputPort, type OutputPort, portsOf } from "@/lib/ports";

/** Sizes of what is drawn, in canvas units; `graph/geometry.py` leaves room for as much. */
export const NODE_WIDTH = 240;
const HEADER = 44;
const ROW = 26;
const FIELD = 32;
const FOOT = 8;
const NOTE_HEIGHT = 160;
const GROUP = { width: 640, height: 360, smallest: 120, largest: 20_000 };
const SERVER = { header: 64, row: 28 };
export const GRIP = 12;

export interface CardPort {
  name: string;
  label: string;
  help: string;
  types: PortType[];
  many: boolean;
  branch: boolean;
  /** Shown only where the pointer or the focus is: the port of a tool that nothing uses. */
  quiet: boolean;
  /** Middle of its handle, from the upper edge of the node. */
  y: number;
}

export interface Card {
  kind: "step" | "note" | "frame";
  width: number;
  height: number;
  inputs: CardPort[];
  outputs: CardPort[];
  /** The fields that can be filled in on the node itself. */
  fields: FieldTemplate[];
  fieldsTop: number;
}

/** The ports of one node that edges use: names of inputs, of outputs. */
export interface Used {
  inputs: readonly string[];
  outputs: readonly string[];
}

/** How a node is drawn: known without drawing it, so that nothing has to be measured. */
export function cardOf(node: FlowNode, template: Template | undefined, used: Used): Card {
  const kind = annotationOf(node, template);
  if (kind) return annotationCard(node, kind);
  const ports = portsOf(node, template);
  const inputs = shownInputs(ports.inputs, used).map((port, row) => inputPort(port, row));
  const outputs = shownOutputs(ports.outputs, used);
  const rows = Math.max(inputs.length, outputs.filter((port) => port.name !== "tool").length);
  const top = HEADER + rows * ROW;
  const room = SERVER.header + SERVER.row * Math.max(ports.inputs.length + ports.outputs.length, 1);
  const fields = inlineFields(template, used, Math.max(1, Math.floor((room - top - FOOT) / FIELD)));
  const height = top + fields.length * FIELD + (rows + fields.length > 0 ? FOOT : 0);
  return {
    kind: "step",
    width: NODE_WIDTH,
    height,
    inputs,
    outputs: placedOutputs(outputs, used),
    fields,
    fieldsTop: top,
  };
}

function annotationOf(node: FlowNode, template: Template | undefined): "note" | "frame" | null {
  if (node.type === "Group") return "frame";
  return (template ? template.annotation : node.type === "Note") ? "note" : null;
}

function annotationCard(node: FlowNode, kind: "note" | "frame"): Card {
  const size =
    kind === "note"
      ? { width: NODE_WIDTH, height: NOTE_HEIGHT }
      : { width: side(node, "width", GROUP.width), height: side(node, "height", GROUP.height) };
  return { kind, ...size, inputs: [], outputs: [], fields: [], fieldsTop: 0 };
}

function side(node: FlowNode, name: string, otherwise: number): number {
  const value = node.params?.[name];
  return typeof value === "number" && value >= GROUP.smallest && value <= GROUP.largest ? value : otherwise;
}

/** Settings that are seldom connected are on the node only while they are. */
function shownInputs(inputs: InputPort[], used: Used): InputPort[] {
  const known = new Set(inputs.map((port) => port.name));
  const lost = used.inputs.filter((name) => !known.has(name)).map(unknownInput);
  return [...inputs.filter((port) => !port.advanced || used.inputs.includes(port.name)), ...lost];
}

function shownOutputs(outputs: OutputPort[], used: Used): OutputPort[] {
  const known = new Set(outputs.map((port) => port.name));
  const lost = used.outputs.filter((name) => !known.has(name));
  return [...outputs, ...lost.map((name) => ({ name, label: name, help: "", type: null, branch: false }))];
}

const unknownInput = (name: string): InputPort => ({
  name,
  label: name,
  help: "",
  types: [],
  many: false,
  main: false,
  required: false,
  advanced: false,
});

const rowMiddle = (row: number) => HEADER + row * ROW + ROW / 2;

function inputPort(port: InputPort, row: number): CardPort {
  const { name, label, help, types, many } = port;
  return { name, label, help, types, many, branch: false, quiet: false, y: rowMiddle(row) };
}

/** The output that makes a node a tool stands beside the title: it is not one of its results. */
function placedOutputs(outputs: OutputPort[], used: Used): CardPort[] {
  let row = 0;
  return outputs.map(({ name, label, help, type, branch }) => {
    const isTool = name === "tool";
    const y = isTool ? HEADER / 2 : rowMiddle(row);
    if (!isTool) row += 1;
    const quiet = isTool && !used.outputs.includes(name);
    return { name, label, help, types: type ? [type] : [], many: false, branch, quiet, y };
  });
}

const INLINE: readonly string[] = ["flow", "model", "multiline", "text", "select", "number", "integer", "boolean"];

function inlineFields(template: Template | undefined, used: Used, most: number): FieldTemplate[] {
  const open = (template?.fields ?? []).filter(
    (field) => INLINE.includes(field.kind) && !field.advanced && !used.inputs.includes(field.name),
  );
  const rank = (field: FieldTemplate) => (field.required ? 0 : 8) + INLINE.indexOf(field.kind);
  const chosen = new Set([...open].sort((a, b) => rank(a) - rank(b)).slice(0, Math.min(most, 3)));
  return open.filter((field) => chosen.has(field));
}
