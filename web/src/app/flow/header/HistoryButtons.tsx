import { History, Redo2, Undo2 } from "lucide-react";
import { useState } from "react";
import { cx, IconButton, Popover, Tip, toast } from "@/components/ui";
import { type Entry, type Travelled, useDraft, useDraftStore } from "@/lib/draft";
import { ago } from "@/lib/i18n/format";
import { keysOf, useShortcutKeys, useShortcuts } from "@/lib/shortcuts/shortcuts";
import { useAppTexts } from "../../texts";

/**
 * Undo and redo with what they undo, and everything that was done here. Keys in a nested draft, such as that of a step of
 * another flow beside this one, are those of its own buttons.
 */
export function HistoryButtons({ nested = false }: { nested?: boolean }) {
  const t = useAppTexts();
  const store = useDraftStore();
  const last = useDraft((state) => state.past.at(-1)?.label);
  const next = useDraft((state) => state.future.at(-1)?.label);
  const editable = useDraft((state) => state.editable);
  const changed = useShortcutKeys((state) => state.changed);
  const [open, setOpen] = useState(false);
  const go = (steps: number) => {
    const done: Travelled[] = [];
    for (let count = Math.abs(steps); count > 0; count -= 1) {
      const one = steps < 0 ? store.getState().undo() : store.getState().redo();
      if (one) done.push(one);
    }
    if (done.length > 0) toast(told(t, done, steps < 0));
  };
  const act = (event: KeyboardEvent, steps: number) => {
    const inside = event.target instanceof Element && event.target.closest("[data-nested-draft]") !== null;
    if (inside !== nested) return false;
    if (document.querySelector("[role=dialog]")) return false;
    go(steps);
    return true;
  };
  useShortcuts({ undo: (event) => act(event, -1), redo: (event) => act(event, 1) });
  if (!editable) return null;
  return (
    <div className="flex items-center">
      <Tip text={last ? t("undo_what", { what: last }) : t("nothing_to_undo")} keys={keysOf("undo", changed)}>
        <IconButton label={t("undo")} disabled={!last} onClick={() => go(-1)} size="sm">
          <Undo2 />
        </IconButton>
      </Tip>
      <Tip text={next ? t("redo_what", { what: next }) : t("nothing_to_redo")} keys={keysOf("redo", changed)}>
        <IconButton label={t("redo")} disabled={!next} onClick={() => go(1)} size="sm">
          <Redo2 />
        </IconButton>
      </Tip>
      <Popover
        open={open}
        onOpenChange={setOpen}
        align="end"
        label={t("history")}
        className="p-1"
        trigger={
          <IconButton label={t("history")} size="sm" disabled={!last && !next}>
            <History />
          </IconButton>
        }
      >
        <HistoryList onGo={go} />
      </Popover>
    </div>
  );
}

/** What was taken back or done again, in words; and what somebody else changed since. */
function told(t: ReturnType<typeof useAppTexts>, done: readonly Travelled[], back: boolean) {
  const what = done[0]?.label ?? "";
  const one = t(back ? "undone" : "redone", { what });
  const title = done.length === 1 ? one : t(back ? "undone_many" : "redone_many", { count: done.length });
  const kept = done.reduce((sum, each) => sum + each.kept, 0);
  return kept > 0 ? { title, detail: t("kept", { count: kept }) } : { title };
}

function HistoryList({ onGo }: { onGo: (steps: number) => void }) {
  const t = useAppTexts();
  const past = useDraft((state) => state.past);
  const future = useDraft((state) => state.future);
  return (
    <div className="flex max-h-96 flex-col overflow-y-auto">
      <p className="px-2 pt-1.5 pb-1 text-xs text-muted">{t("history_more")}</p>
      {future.map((entry, index) => (
        <Step
          key={`${entry.at} ${entry.label} ${index}`}
          entry={entry}
          undone
          onGo={() => onGo(future.length - index)}
        />
      ))}
      {past
        .map((entry, index) => (
          <Step
            key={`${entry.at} ${entry.label} ${index}`}
            entry={entry}
            now={index === past.length - 1}
            onGo={() => onGo(index - past.length + 1)}
          />
        ))
        .reverse()}
      <button
        type="button"
        disabled={past.length === 0}
        onClick={() => onGo(-past.length)}
        className="rounded-md px-2 py-1.5 text-left text-sm text-muted enabled:hover:bg-hover"
      >
        {t("as_opened")}
      </button>
    </div>
  );
}

function Step({ entry, now, undone, onGo }: { entry: Entry; now?: boolean; undone?: boolean; onGo: () => void }) {
  const t = useAppTexts();
  return (
    <button
      type="button"
      onClick={onGo}
      aria-current={now ? "step" : undefined}
      className={cx(
        "flex items-baseline gap-2 rounded-md px-2 py-1.5 text-left text-sm hover:bg-hover",
        now && "bg-accent-soft",
        undone && "text-muted",
      )}
    >
      <span className={cx("min-w-0 flex-1 truncate", undone && "line-through")}>{entry.label}</span>
      {entry.origin === "assistant" && <span className="text-2xs text-accent">{t("assistant")}</span>}
      <span className="shrink-0 text-2xs text-muted">{ago(new Date(entry.at))}</span>
    </button>
  );
}
