import { Sparkles } from "lucide-react";
import { Suspense, useRef } from "react";
import { useCommands } from "@/lib/commands/commands";
import { usePanels } from "@/lib/panels";
import { part } from "@/lib/part";
import { useRequests } from "@/lib/requests";
import { useShortcuts } from "@/lib/shortcuts/shortcuts";
import { useDockTexts } from "./texts/dock";

const Assistant = part(() => import("./Assistant"));

interface AssistantDockProps {
  /** It stands where it is put rather than floating. */
  beside?: boolean;
  /** It is open and somebody else stands in its place. */
  hidden?: boolean;
}

/** The assistant of an open flow. It is loaded when it is wanted first, and works on while its panel is closed. */
export function AssistantDock({ beside = false, hidden = false }: AssistantDockProps) {
  const t = useDockTexts();
  const open = usePanels((state) => state.open.assistant);
  const asked = useRequests((state) => state.ask !== null);
  const wanted = useRef(false);
  const before = useRef<HTMLElement | null>(null);
  wanted.current ||= open || asked;
  const show = (next: boolean) => {
    if (next) before.current = document.activeElement as HTMLElement | null;
    usePanels.getState().setOpen("assistant", next);
    if (!next) before.current?.focus();
  };
  useShortcuts({
    assistant: () => {
      show(!open || hidden);
      return true;
    },
  });
  useCommands("assistant", () => [
    {
      id: "assistant.open",
      group: t("title"),
      label: open ? t("close") : t("open_panel"),
      icon: <Sparkles />,
      shortcut: "assistant",
      run: () => show(!open),
    },
  ]);
  if (!wanted.current) return null;
  return (
    <Suspense fallback={null}>
      <Assistant open={open} beside={beside} hidden={hidden} onClose={() => show(false)} />
    </Suspense>
  );
}
