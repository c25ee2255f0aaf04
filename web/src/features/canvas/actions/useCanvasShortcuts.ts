import { useEffect } from "react";
import { breakable, toggleBreakpoint } from "@/lib/breakpoints";
import { usePanels } from "@/lib/panels";
import { useShortcuts } from "@/lib/shortcuts/shortcuts";
import { flowField, toggleRegion } from "../model/regions";
import type { Stage } from "../model/stage";
import { show } from "../model/stage";
import { useView } from "../model/view";
import { extractable, inlinable, inlineStep } from "./composing";
import { copy, cut, duplicate, pasteFromClipboard, removeSelected, toggleDisabled } from "./nodes";
import { addNote, groupSelected, layOut, nudge } from "./places";
import { walk } from "./walking";

/** Keys of the canvas. A key that has nothing to act on is left to the browser. */
export function useCanvasShortcuts(stage: Stage): void {
  const set = useView.getState().set;
  const state = () => stage.store.getState();
  const chosen = () => state().selectedNodes.length > 0;
  const act = (action: () => void) => {
    if (inDialog()) return false;
    action();
    return true;
  };
  const onChosen = (action: () => void) => (chosen() ? act(action) : false);
  useShortcuts({
    copy: () => (chosen() && !hasTextSelection() ? act(() => void copy(stage)) : false),
    cut: () => onChosen(() => void cut(stage)),
    paste: () => (state().editable ? act(() => void pasteFromClipboard(stage)) : false),
    duplicate: () => onChosen(() => duplicate(stage)),
    select_all: () => act(() => state().select(state().document.order, Object.keys(state().document.edges))),
    delete: () => (chosen() || state().selectedEdges.length > 0 ? act(() => removeSelected(stage)) : false),
    group: () => act(() => groupSelected(stage)),
    extract: () => {
      const ids = extractable(stage);
      return state().editable && ids.length > 0 ? act(() => set({ extracting: { ids, repeat: "once" } })) : false;
    },
    inline: () => {
      const id = inlinable(stage);
      return state().editable && id ? act(() => void inlineStep(stage, id)) : false;
    },
    search: () => act(() => set({ finding: true })),
    add_node: () => (state().editable ? act(() => set({ adding: { kind: "node", screen: null, at: null } })) : false),
    add_note: () => (state().editable ? act(() => addNote(stage)) : false),
    fit: () => act(() => show(stage)),
    layout: () => (state().editable ? act(() => void layOut(stage)) : false),
    rename: () => {
      const [only, more] = state().selectedNodes;
      if (!only || more || !state().editable) return false;
      return act(() => set({ renaming: only }));
    },
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || !onCanvas(event.target)) return;
      if (plainKey(stage, event)) event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [stage]);
}

/** Keys that mean something only while the canvas itself or a node has the focus. */
function plainKey(stage: Stage, event: KeyboardEvent): boolean {
  if (event.key.startsWith("Arrow")) return nudge(stage, event.key, event.shiftKey);
  if (event.key === "Tab") return walk(stage, event.target, event.shiftKey ? -1 : 1);
  const state = stage.store.getState();
  const [only] = state.selectedNodes;
  if (!only && state.selectedEdges.length === 0) return false;
  const actions: Record<string, (() => void) | false | undefined> = {
    Backspace: state.editable && (() => removeSelected(stage)),
    Escape: () => state.clearSelection(),
    Enter: only !== undefined && (() => usePanels.getState().setOpen("inspector", true)),
    d: only !== undefined && state.editable && (() => toggleDisabled(stage)),
    s: only !== undefined && flowField(stage.store, only) !== undefined && (() => toggleRegion(stage.store, only)),
    b: only !== undefined && breakable(state, only) && (() => toggleBreakpoint(state, only)),
    c: only !== undefined && state.editable && (() => useView.getState().set({ connectingFrom: only })),
  };
  const action = actions[event.key];
  if (action) action();
  return Boolean(action);
}

function onCanvas(target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (target.matches("input, textarea, select, [contenteditable], [role=textbox], [role=combobox]")) return false;
  return (
    target.matches(".react-flow__node, .react-flow__edge, .react-flow, .react-flow__pane") || target === document.body
  );
}

const inDialog = () => document.querySelector("[role=dialog], [role=alertdialog]") !== null;
const hasTextSelection = () => (window.getSelection()?.toString().length ?? 0) > 0;
