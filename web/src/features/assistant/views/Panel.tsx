import { type KeyboardEvent, useEffect } from "react";
import { cx } from "@/components/ui";
import type { Corner } from "../model/place";
import { useAssistantTexts } from "../texts";
import { Composer } from "./Composer";
import { useConversation } from "./context";
import { Header } from "./Header";
import { Messages } from "./Messages";
import { useNarrow } from "./useNarrow";
import { usePlace } from "./usePlace";

const CORNERS: Record<Corner, string> = {
  nw: "top-0 left-0 cursor-nwse-resize",
  ne: "top-0 right-0 cursor-nesw-resize",
  sw: "bottom-0 left-0 cursor-nesw-resize",
  se: "right-0 bottom-0 cursor-nwse-resize",
};

/** The assistant: floating over the flow, docked beside it, or a sheet from below where the window is narrow. */
export default function Panel({ onClose }: { onClose: () => void }) {
  const t = useAssistantTexts();
  const conversation = useConversation();
  const narrow = useNarrow();
  const { docked, setDocked, place, drag, grip, resize } = usePlace();
  const floats = !docked && !narrow;
  useEffect(() => conversation.open(), [conversation]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    // What lies over the panel, a dialog or a menu, hears the key too: it is closed first.
    if (!(event.currentTarget as HTMLElement).contains(event.target as Node)) return;
    event.preventDefault();
    onClose();
  };
  return (
    <section
      aria-label={t("title")}
      onKeyDown={onKeyDown}
      style={floats ? { left: place.x, top: place.y, width: place.width, height: place.height } : undefined}
      className={cx(
        "flex flex-col bg-surface",
        floats && "fixed z-30 rounded-xl border border-line shadow-float animate-rise",
        narrow && "fixed inset-x-0 bottom-0 z-30 h-[85dvh] rounded-t-xl border-t border-line shadow-modal animate-rise",
        docked && !narrow && "h-full w-[26rem] shrink-0 border-l border-line",
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
