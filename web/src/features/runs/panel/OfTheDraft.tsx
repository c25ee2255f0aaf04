import { breakpointsOf } from "@/lib/breakpoints";
import { useDraft, useDraftStore } from "@/lib/draft";
import { useRunTexts } from "../texts";

/** What the next run of the draft takes from the canvas: pinned outputs and breakpoints, with the way to have none. */
export function OfTheDraft() {
  const t = useRunTexts();
  const store = useDraftStore();
  const pins = useDraft((state) => Object.keys(state.pinned).length);
  const breakpoints = useDraft((state) => breakpointsOf(state).length);
  const unpin = () => {
    for (const id of Object.keys(store.getState().pinned)) store.getState().pin(id, null);
  };
  return (
    <>
      {pins > 0 && <Line text={t("pins", { count: pins })} remove={t("unpin_all")} onRemove={unpin} />}
      {breakpoints > 0 && (
        <Line
          text={t("breakpoints", { count: breakpoints })}
          remove={t("remove_breakpoints")}
          onRemove={() => store.getState().setBreakpoints([])}
        />
      )}
    </>
  );
}

function Line({ text, remove, onRemove }: { text: string; remove: string; onRemove: () => void }) {
  return (
    <p className="flex items-center gap-2 text-xs text-muted">
      {text}
      <button type="button" className="text-accent underline" onClick={onRemove}>
        {remove}
      </button>
    </p>
  );
}
