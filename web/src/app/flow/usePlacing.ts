import { useNavigate } from "@tanstack/react-router";
import { useEffect, useLayoutEffect } from "react";
import type { DraftStore } from "@/lib/draft";
import { usePanels } from "@/lib/panels";
import type { FlowPlace } from "./place";

const GOING = ["queued", "running", "waiting", "paused"];

/** Panels come and go with what somebody does: a node pointed at is shown, a run is shown where it can be seen. */
export function usePlacing(store: DraftStore, place: FlowPlace, flowId: string): void {
  const navigate = useNavigate();
  const elsewhere = place === "other";
  useLayoutEffect(() => {
    usePanels.getState().remember();
    return () => usePanels.getState().leave();
  }, []);
  useEffect(
    () =>
      store.subscribe((now, before) => {
        if (!now.focus || now.focus === before.focus) return;
        const { offer, setOpen, open, order } = usePanels.getState();
        // A conversation stays in view when it points at a node, and a run while it is running.
        const talking = open.assistant && order.at(-1) === "assistant";
        if (talking || GOING.includes(now.shownRun?.status ?? "")) offer("inspector");
        else setOpen("inspector", true);
      }),
    [store],
  );
  useEffect(() => {
    if (!elsewhere) return;
    return usePanels.subscribe((now, before) => {
      if (now.order !== before.order && now.order.at(-1) === "run" && now.open.run) {
        void navigate({ to: "/flows/$flowId", params: { flowId } });
      }
    });
  }, [elsewhere, navigate, flowId]);
  // The other views are read: the assistant is there when asked for, and where it was on the way back.
  useEffect(() => {
    if (!elsewhere) return;
    const { open, setOpen } = usePanels.getState();
    if (!open.assistant) return;
    setOpen("assistant", false);
    return () => setOpen("assistant", true);
  }, [elsewhere]);
  useEffect(() => {
    if (!elsewhere) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || event.defaultPrevented || document.querySelector("[role=dialog]")) return;
      if (usePanels.getState().open.assistant) usePanels.getState().setOpen("assistant", false);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [elsewhere]);
}
