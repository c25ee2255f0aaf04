import { type KeyboardEvent, useEffect } from "react";
import { cx } from "@/components/ui";
import { useNarrow } from "@/lib/narrow";
import { usePanels } from "@/lib/panels";
import type { Corner } from "../model/place";
import { useDockTexts } from "../texts/dock";
import { Composer } from "./Composer";
import { useConversation } from "./context";
import { Header } from "./Header";
import { Messages } from "./Messages";
import { usePlace } from "./usePlace";

const CORNERS: Record<Corner, string> = {
  nw: "top-0 left-0 cursor-nwse-resize",
  ne: "top-0 right-0 cursor-nesw-resize",
  sw: "bottom-0 left-0 cursor-nesw-resize",
  se: "right-0 bottom-0 cursor-nwse-resize",
};

interface PanelProps {
  beside: boolean;
  hidden: boolean;
  onClose: () => void;
}

/** The assistant: floating over the flow, or where the page puts it: beside the flow, or over it as a sheet. */
export default function Panel({ beside, hidden, onClose }: PanelProps) {
  const dock = useDockTexts();
  const conversation = useConversation();
  const narrow = useNarrow();
  const { docked, setDocked, place, drag, grip, resize } = usePlace();
  const floats = !beside;
  useEffect(() => conversation.open(), [conversation]);
  useEffect(() => {
    usePanels.setState({ floatsFrom: floats ? place.x : null });
    return () => usePanels.setState({ floatsFrom: null });
  }, [floats, place.x]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    // What lies over the panel, a dialog or a menu, hears the key too: it is closed first.
    if (!(event.currentTarget as HTMLElement).contains(event.target as Node)) return;
    event.preventDefault();
    onClose();
  };
  return (
    <section
      aria-label={dock("title")}
      onKeyDown={onKeyDown}
      hidden={hidden}
      style={floats ? { left: place.x, top: place.y, width: place.width, height: place.height } : undefined}
      className={cx(
        "flex-col bg-surface",
        hidden ? "hidden" : "flex",
        floats ? "fixed z-30 rounded-xl border border-line shadow-float animate-rise" : "min-h-0 flex-1",
      )}
    >
      <Header docked={docked} narrow={narrow} onDock={setDocked} onClose={onClose} drag={drag} grip={grip} />
      <Messages />
      <Composer />
      {floats &&
        (Object.keys(CORNERS) as Corner[]).map((corner) => (
          <div
            key={corner}
            aria-hidden
            className={cx("absolute size-3 touch-none", CORNERS[corner])}
            {...resize(corner)}
          />
        ))}
    </section>
  );
}
