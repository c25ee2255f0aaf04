import { compare } from "fast-json-patch";
import type { Flow, FlowOut } from "@/api/types";
import { type Document, type DraftStore, toDocument, toFlow } from "@/lib/draft";
import { withEditApplied } from "../model/edits";
import { mergeInto, withTail } from "../model/merge";
import type { FieldEdit, Proposal } from "../model/message";
import { applyUpdate } from "../model/update";
import type { Completed, FlowUpdate } from "../model/wire";

/** What changes are called in "Undo …". */
export interface Labels {
  turn: string;
  add: string;
  replace: string;
  edit: string;
}

/** The assistant's hand on the canvas. Everything goes through the draft's own door and can be taken back. */
export class Hand {
  private edits = -1;

  constructor(
    private readonly draft: DraftStore,
    private readonly labels: Labels,
  ) {}

  /** A turn begins: changes of the person from here on are theirs, and are not overwritten at its end. */
  begin(): void {
    this.edits = this.draft.getState().edits;
  }

  /** A change as it streams in; all of one answer are one step to undo. */
  change(messageId: string, update: FlowUpdate): void {
    this.recorded(this.options(messageId), (draft) => applyUpdate(draft, structuredClone(update)));
  }

  /** The end of a turn: the canvas is what the server has, where nobody else changed it meanwhile. */
  settle(messageId: string, data: Completed): void {
    const { flow, saved, revision } = data;
    if (!flow) return;
    const state = this.draft.getState();
    const untouched = state.edits === this.edits;
    if (untouched && !data.proposal && !same(toFlow(state.document), flow)) {
      this.recorded(this.options(messageId), (draft) => Object.assign(draft, toDocument(flow)));
    }
    if (!saved || typeof revision !== "number" || revision < state.revision) return;
    const now = this.draft.getState();
    const answer = this.answer(flow, revision, data);
    if (untouched) now.saved(now.document, now.edits, answer);
    else now.follow(answer, "");
  }

  /** The flow as the server saved it at the end of a turn. */
  private answer(flow: Flow, revision: number, data: Completed): FlowOut {
    const { flowId, spaceId, publishedVersion } = this.draft.getState();
    const { name = "", description = "" } = flow;
    const at = new Date().toISOString();
    return {
      id: flowId,
      name,
      description,
      space_id: spaceId,
      revision,
      published_version: publishedVersion,
      created_at: at,
      updated_at: at,
      definition: flow,
      issues: (data.issues ?? []) as FlowOut["issues"],
    } as FlowOut;
  }

  /** Put a proposal on the canvas; gives what the canvas then has of it, or null where it took nothing. */
  take(proposal: Proposal, how: "add" | "replace"): { nodes: number; edges: number } | null {
    const whole = withTail(proposal.flow, proposal.tail);
    let ids = [...whole.order];
    const done = this.recorded({ label: this.labels[how], origin: "assistant" }, (draft) => {
      if (how === "replace") Object.assign(draft, whole);
      else ids = mergeInto(draft, whole);
    });
    if (!done) return null;
    const { document, select } = this.draft.getState();
    const there = new Set(ids.filter((id) => id in document.nodes));
    if (how === "add") select([...there]);
    const edges = Object.values(document.edges).filter((edge) => there.has(edge.source) && there.has(edge.target));
    return { nodes: there.size, edges: edges.length };
  }

  /** Make proposed edits, as one step; gives what came of each. */
  accept(edits: FieldEdit[]): Record<string, FieldEdit["state"]> {
    const states: Record<string, FieldEdit["state"]> = {};
    let next: Document = this.draft.getState().document;
    for (const edit of edits) {
      const made = withEditApplied(next, edit);
      states[edit.id] = made ? "applied" : "stale";
      if (made) next = made;
    }
    const nodes = new Set(edits.filter((edit) => states[edit.id] === "applied").map((edit) => edit.nodeId));
    this.recorded({ label: this.labels.edit, origin: "assistant" }, (draft) => {
      for (const id of nodes) if (next.nodes[id]) draft.nodes[id] = next.nodes[id];
    });
    return states;
  }

  isEmpty(): boolean {
    return this.draft.getState().document.order.length === 0;
  }

  private options(messageId: string) {
    return { label: this.labels.turn, origin: "assistant" as const, merge: `assistant:${messageId}` };
  }

  /** Change the draft and count it as ours. */
  private recorded(
    options: Parameters<ReturnType<DraftStore["getState"]>["change"]>[0],
    recipe: (draft: Document) => void,
  ) {
    const ours = this.draft.getState().edits === this.edits;
    const done = this.draft.getState().change(options, recipe);
    if (ours) this.edits = this.draft.getState().edits;
    return done;
  }
}

const same = (a: Flow, b: Flow): boolean => compare(plain(a), plain(b)).length === 0;
const plain = (flow: Flow) => JSON.parse(JSON.stringify(flow)) as object;
