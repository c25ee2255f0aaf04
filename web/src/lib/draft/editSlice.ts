import type { Flow, FlowEdge, FlowNode, FlowSettings, FormField, JsonValue, StepPolicy } from "@/api/types";
import { nodeName } from "../nodeName";
import { type Document, edgeId, freeId, toDocument } from "./document";
import { emptyNode } from "./emptyNode";
import type { ChangeOptions, Origin } from "./historySlice";
import { write } from "./members";
import { merge } from "./merge";
import { takesMany } from "./ports";
import type { GetDraft, SetDraft } from "./store";
import { useDraftTexts } from "./texts";

const say = useDraftTexts.now;

interface Point {
  x: number;
  y: number;
}

export interface EditSlice {
  addNode: (type: string, position: Point, more?: Partial<FlowNode>) => string;
  removeNodes: (ids: string[]) => void;
  /** Connect; an input that takes one edge loses the one it had. */
  connect: (edge: FlowEdge) => void;
  disconnect: (edgeIds: string[]) => void;
  moveNodes: (positions: Record<string, Point>) => void;
  setParam: (id: string, name: string, value: JsonValue | undefined) => void;
  setPolicy: (id: string, policy: Partial<StepPolicy>) => void;
  setLabel: (id: string, label: string) => void;
  setCode: (id: string, code: string | null) => void;
  setForm: (form: FormField[]) => void;
  setSettings: (settings: Partial<FlowSettings>) => void;
  setAbout: (about: { name?: string; description?: string }) => void;
  /** The whole flow replaced: a proposal taken, a version restored, a file opened. One step to undo. */
  replaceFlow: (flow: Flow, options: ChangeOptions) => void;
}

/** Operations on the document, in the words of people. Each is one `change`, so each can be undone. */
export function createEditSlice(_set: SetDraft, get: GetDraft): EditSlice {
  const change = (label: string, recipe: (draft: Document) => void, merge?: string, origin?: Origin) => {
    get().change({ label, ...(merge ? { merge } : {}), ...(origin ? { origin } : {}) }, recipe);
  };
  const onNode = (id: string, label: string, merge: string, recipe: (node: FlowNode) => void) =>
    change(
      label,
      (draft) => {
        const node = draft.nodes[id];
        if (node) recipe(node);
      },
      `${merge}:${id}`,
    );
  const nameOf = (id: string) => {
    const node = get().document.nodes[id];
    return node ? nodeName(node, get().templates) : id;
  };
  return {
    addNode: (type, position, more) => {
      const template = get().templates[type];
      const id = more?.id ?? freeId(type, get().document.nodes);
      const node: FlowNode = { ...emptyNode(), label: "", ...more, id, type, position };
      change(say("add", { what: template?.label ?? type }), (draft) => {
        draft.nodes[id] = node;
        draft.order.push(id);
      });
      return id;
    },
    removeNodes: (ids) =>
      change(
        ids.length === 1 ? say("remove", { what: nameOf(ids[0] ?? "") }) : say("remove_nodes", { count: ids.length }),
        (draft) => {
          const gone = new Set(ids);
          for (const id of ids) delete draft.nodes[id];
          draft.order = draft.order.filter((id) => !gone.has(id));
          for (const [key, edge] of Object.entries(draft.edges)) {
            if (gone.has(edge.source) || gone.has(edge.target)) delete draft.edges[key];
          }
        },
      ),
    connect: (edge) =>
      change(say("connect"), (draft) => {
        const type = draft.nodes[edge.target]?.type ?? "";
        const many = takesMany(get().templates)(type, edge.input);
        for (const [key, other] of Object.entries(draft.edges)) {
          if (!many && other.target === edge.target && other.input === edge.input) delete draft.edges[key];
        }
        draft.edges[edgeId(edge)] = edge;
      }),
    disconnect: (ids) =>
      change(say("disconnect"), (draft) => {
        for (const id of ids) delete draft.edges[id];
      }),
    moveNodes: (positions) =>
      change(
        say("move"),
        (draft) => {
          for (const [id, position] of Object.entries(positions)) {
            const node = draft.nodes[id];
            if (node) node.position = { x: Math.round(position.x), y: Math.round(position.y) };
          }
        },
        `move:${Object.keys(positions).sort().join()}`,
      ),
    setParam: (id, name, value) =>
      onNode(id, say("set", { what: name }), `param:${name}`, (node) => {
        node.params ??= {};
        if (value === undefined) delete node.params[name];
        else node.params[name] = value;
      }),
    setPolicy: (id, policy) =>
      change(
        say("policy"),
        (draft) => {
          const node = draft.nodes[id];
          if (!node) return;
          const hadError = node.policy?.on_error === "error_edge";
          node.policy = { ...emptyNode().policy, ...node.policy, ...policy } as StepPolicy;
          if (!hadError || node.policy.on_error === "error_edge") return;
          // Its output is gone, and so are the edges that left by it.
          for (const [key, edge] of Object.entries(draft.edges)) {
            if (edge.source === id && edge.output === "error") delete draft.edges[key];
          }
        },
        `policy:${Object.keys(policy).join()}:${id}`,
      ),
    setLabel: (id, label) =>
      onNode(id, say("rename"), "label", (node) => {
        node.label = label;
      }),
    setCode: (id, code) =>
      onNode(id, say("code"), "code", (node) => {
        node.code = code;
      }),
    setForm: (form) =>
      change(
        say("form"),
        (draft) => {
          draft.form = form;
        },
        "form",
      ),
    setSettings: (settings) =>
      change(
        say("settings"),
        (draft) => {
          Object.assign(draft.settings, settings);
        },
        `settings:${Object.keys(settings).join()}`,
      ),
    setAbout: (about) =>
      change(
        say("about"),
        (draft) => {
          Object.assign(draft, about);
        },
        "about",
      ),
    replaceFlow: (flow, options) => {
      const { document, templates } = get();
      // Only what differs is written, so that what stays is not drawn again and undo takes back no more than this.
      const { writes } = merge(document, document, toDocument(flow), takesMany(templates));
      get().change(options, (draft) => {
        for (const one of writes) write(draft, one);
      });
    },
  };
}
