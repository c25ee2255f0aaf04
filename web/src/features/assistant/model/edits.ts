import { applyPatch } from "fast-json-patch";
import type { Flow } from "@/api/types";
import { type Document, toDocument, toFlow } from "@/lib/draft";
import type { AssistantMessage, FieldEdit } from "./message";
import type { PatchOperation } from "./wire";

const NODE = /^\/nodes\/\d+(?=\/)/;

/**
 * The patch of an edit for the flow as it is now: nodes may have come and gone since it was proposed, so it follows
 * the node and not its place. Null where the node is gone or its value is another one.
 */
function patchFor(edit: FieldEdit, flow: Flow): PatchOperation[] | null {
  const at = flow.nodes?.findIndex((node) => node.id === edit.nodeId) ?? -1;
  const node = flow.nodes?.[at];
  if (!node || node.type !== edit.nodeType) return null;
  const value = node.params?.[edit.field] ?? null;
  if (JSON.stringify(value) !== JSON.stringify(edit.before ?? null) && value !== null) return null;
  const moved = (path: string) => path.replace(NODE, `/nodes/${at}`);
  return edit.patch.map((one) => ({
    ...one,
    path: moved(one.path),
    ...(one.from ? { from: moved(one.from) } : {}),
    // The value may have been unset since: `add` sets it either way.
    ...(one.op === "replace" ? { op: "add" as const } : {}),
  }));
}

/** The document with an edit in it; null where it no longer fits. */
export function withEditApplied(document: Document, edit: FieldEdit): Document | null {
  const flow = structuredClone(toFlow(document));
  const patch = patchFor(edit, flow);
  if (!patch) return null;
  try {
    return toDocument(applyPatch(flow, patch as never[], true, true).newDocument);
  } catch {
    return null;
  }
}

export const pendingEdits = (message: AssistantMessage): FieldEdit[] =>
  message.edits.filter((edit) => edit.state === "pending");

/** Whether the rest of the request is to be asked for: an edit was taken, none waits, and something was put off. */
export function continuesAfterEdits(message: AssistantMessage): boolean {
  if (!message.continues || message.status !== "done") return false;
  return pendingEdits(message).length === 0 && message.edits.some((edit) => edit.state === "applied");
}
