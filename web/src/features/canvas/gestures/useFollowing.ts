import { useEffect } from "react";
import type { DraftState } from "@/lib/draft";
import { usePanels } from "@/lib/panels";
import { focusNode } from "../actions/walking";
import { reveal, type Stage, show, showNew } from "../model/stage";
import { useView } from "../model/view";

const FRESH_MS = 2500;
/** Nodes that stream in are looked at together. */
const SETTLED_MS = 120;
/** How often to look again for nodes that a slow machine has not drawn yet. */
const LOOKS = 50;

/** Shows for a moment what others changed, and goes where some part of the page points. */
export function useFollowing(stage: Stage): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const arrivals = watchArrivals(stage);
    const unsubscribe = stage.store.subscribe((now, before) => {
      if (now.focus && now.focus !== before.focus) focusNode(stage, now.focus.id);
      if (now.document.nodes === before.document.nodes) return;
      arrivals.look(now, before);
      if (!byOthers(now, before)) return;
      const changed = Object.keys(now.document.nodes).filter(
        (id) => now.document.nodes[id] !== before.document.nodes[id],
      );
      if (changed.length === 0) return;
      useView.getState().set({ fresh: new Set([...useView.getState().fresh, ...changed]) });
      clearTimeout(timer);
      timer = setTimeout(() => useView.getState().set({ fresh: new Set() }), FRESH_MS);
    });
    // What was clicked on is not left behind the panel that it opens.
    const leave = usePanels.subscribe((now, before) => {
      const [only, more] = stage.store.getState().selectedNodes;
      if (!only || more || (now.taken <= before.taken && now.sheet <= before.sheet)) return;
      requestAnimationFrame(() => reveal(stage, only, 0.2));
    });
    return () => {
      leave();
      clearTimeout(timer);
      arrivals.stop();
      unsubscribe();
      useView.getState().set({ fresh: new Set() });
    };
  }, [stage]);
}

/**
 * Nodes that came to the flow are shown once they are drawn, and the whole flow when the assistant arranged it anew;
 * what somebody else adds elsewhere moves nobody's view.
 */
function watchArrivals(stage: Stage) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let came = new Set<string>();
  let arranged = false;
  const drawn = () => {
    const ids = new Set(stage.drawn.nodes.map((node) => node.id));
    return [...came].every((id) => ids.has(id) || !(id in stage.store.getState().document.nodes));
  };
  const settle = (looks: number) => {
    if (looks > 0 && !drawn()) {
      timer = setTimeout(settle, SETTLED_MS, looks - 1);
      return;
    }
    if (arranged) show(stage);
    else showNew(stage, came);
    came = new Set();
    arranged = false;
  };
  return {
    look: (now: DraftState, before: DraftState) => {
      const remote = now.past === before.past && now.future === before.future;
      if (remote) return;
      for (const id of now.document.order) if (!(id in before.document.nodes)) came.add(id);
      arranged ||= byOthers(now, before) && someMoved(now.document.nodes, before.document.nodes);
      if (came.size === 0 && !arranged) return;
      clearTimeout(timer);
      timer = setTimeout(settle, SETTLED_MS, LOOKS);
    },
    stop: () => clearTimeout(timer),
  };
}

function someMoved(now: DraftState["document"]["nodes"], before: DraftState["document"]["nodes"]): boolean {
  return Object.entries(now).some(([id, node]) => {
    const was = before[id]?.position;
    return was && node.position && (was.x !== node.position.x || was.y !== node.position.y);
  });
}

/** A change that leaves no trace in the history came from another place; else its entry says whose it was. */
function byOthers(now: DraftState, before: DraftState): boolean {
  const entry = now.past.at(-1);
  if (now.past !== before.past && entry !== before.past.at(-1)) return entry?.origin === "assistant";
  return now.past === before.past && now.future === before.future;
}
