import { GripVertical, PanelRight, PictureInPicture2, SquarePen, X, Zap } from "lucide-react";
import type { ComponentProps } from "react";
import { Chip, IconButton, Tip } from "@/components/ui";
import { keysOf, useShortcutKeys } from "@/lib/shortcuts/shortcuts";
import { useAssistantTexts } from "../texts";
import { useDockTexts } from "../texts/dock";
import { useAssistant, useConversation } from "./context";
import { Sessions } from "./Sessions";

interface HeaderProps {
  docked: boolean;
  narrow: boolean;
  onDock: (docked: boolean) => void;
  onClose: () => void;
  /** What lets the panel be dragged by its header. */
  drag: ComponentProps<"header">;
  /** What lets it be moved by keyboard. */
  grip: ComponentProps<"button">;
}

export function Header({ docked, narrow, onDock, onClose, drag, grip }: HeaderProps) {
  const t = useAssistantTexts();
  const dock = useDockTexts();
  const conversation = useConversation();
  const skipAll = useAssistant((state) => state.skipAll);
  const keys = useShortcutKeys((state) => keysOf("assistant", state.changed));
  const floats = !docked && !narrow;
  return (
    <header
      {...(floats ? drag : {})}
      className={`flex h-11 shrink-0 items-center gap-1 border-b border-line pr-1.5 ${floats ? "cursor-grab touch-none pl-1 active:cursor-grabbing" : "pl-4"}`}
    >
      {floats && (
        <button
          type="button"
          aria-label={t("move")}
          title={t("move")}
          {...grip}
          className="rounded-sm p-1 text-faint hover:text-ink"
        >
          <GripVertical aria-hidden className="size-4" />
        </button>
      )}
      <h2 className="font-semibold">{dock("title")}</h2>
      {skipAll && (
        <Tip text={t("skip_about")}>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: its explanation must be reached by keyboard */}
          <span tabIndex={0} className="ml-1 inline-flex rounded-sm">
            <Chip icon={<Zap />}>{t("skip_badge")}</Chip>
          </span>
        </Tip>
      )}
      <div className="ml-auto flex items-center">
        <IconButton size="sm" label={t("new_session")} onClick={() => conversation.newSession()}>
          <SquarePen />
        </IconButton>
        <Sessions />
        {!narrow && (
          <IconButton size="sm" label={docked ? t("undock") : t("dock")} onClick={() => onDock(!docked)}>
            {docked ? <PictureInPicture2 /> : <PanelRight />}
          </IconButton>
        )}
        <Tip text={dock("close")} keys={keys}>
          <IconButton size="sm" label={dock("close")} onClick={onClose}>
            <X />
          </IconButton>
        </Tip>
      </div>
    </header>
  );
}
