import { Check, CircleDot, CloudOff, Eye, GitMerge } from "lucide-react";
import type { ReactNode } from "react";
import { cx, Spinner, Tip } from "@/components/ui";
import { type DraftState, useDraftParts, useDraftStore } from "@/lib/draft";
import { ago } from "@/lib/i18n/format";
import { useConflictView } from "./conflictView";
import { type EditingText, useEditingTexts } from "./texts";

type Shown = DraftState["saveState"] | "read_only";

const LOOKS: Record<Shown, { icon: ReactNode; look: string }> = {
  saved: { icon: <Check />, look: "text-ok" },
  saving: { icon: <Spinner />, look: "text-muted" },
  unsaved: { icon: <CircleDot />, look: "text-warn" },
  offline: { icon: <CloudOff />, look: "text-warn" },
  conflict: { icon: <GitMerge />, look: "text-bad" },
  read_only: { icon: <Eye />, look: "text-muted" },
};

/** Whether the server has what is seen here; why not, and since when, as a tip. */
export function SaveState() {
  const t = useEditingTexts();
  const store = useDraftStore();
  const { saveState, savedAt, refused, editable } = useDraftParts(({ saveState, savedAt, refused, editable }) => ({
    saveState,
    savedAt,
    refused,
    editable,
  }));
  const shown: Shown = editable || saveState === "offline" || saveState === "conflict" ? saveState : "read_only";
  const { icon, look } = LOOKS[shown];
  const act = () => {
    if (shown === "conflict") useConflictView.setState({ open: true });
    else if (shown !== "read_only") void store.getState().flush();
  };
  return (
    <Tip text={more(t, shown, savedAt, refused)}>
      <button
        type="button"
        onClick={act}
        data-state={shown}
        className={cx(
          "inline-flex h-6 max-w-48 shrink-0 items-center gap-1.5 rounded-sm px-1 text-xs hover:bg-hover [&_svg]:size-3.5 [&_svg]:shrink-0",
          look,
        )}
      >
        {icon}
        {/* Read out where it needs somebody; saving as such goes on without a word. */}
        <span
          className={cx("truncate", shown === "saved" && "max-sm:sr-only")}
          role="status"
          aria-live={shown === "saved" || shown === "saving" || shown === "unsaved" ? "off" : "polite"}
        >
          {t(shown)}
        </span>
      </button>
    </Tip>
  );
}

function more(t: EditingText, shown: Shown, savedAt: number | null, refused: string): string {
  if (shown === "unsaved" && refused) return t("refused_more", { why: refused });
  if (shown === "saved") return savedAt ? t("saved_when", { ago: ago(new Date(savedAt)) }) : t("saved_never");
  return t(`${shown}_more`);
}
