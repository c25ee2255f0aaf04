import { Pencil, Pin, PinOff } from "lucide-react";
import { useState } from "react";
import type { JsonValue, StepOut } from "@/api/types";
import { Button, toast } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { pinnable } from "../model/parts";
import { useRunTexts } from "../texts";
import { EditOutput } from "./EditOutput";

/** Let a step's output, as it is or changed, be used by test runs instead of running the step. */
export function Pinning({ step, settled }: { step: StepOut; settled: boolean }) {
  const t = useRunTexts();
  const store = useDraftStore();
  const id = step.step_id;
  const pinned = useDraft((state) => state.pinned[id]);
  const [editing, setEditing] = useState(false);
  const outputs = pinnable(step.output?.outputs);
  const shown = pinned ?? (settled ? outputs : null);
  const pin = (next: Record<string, JsonValue> | null) => {
    const before = pinned ?? null;
    store.getState().pin(id, next);
    toast({
      title: t(next ? "pinned_now" : "unpinned"),
      action: { label: t("undo"), onClick: () => store.getState().pin(id, before) },
    });
  };
  if (!pinned && !(settled && step.output)) return null;
  return (
    <>
      <Button
        size="sm"
        icon={pinned ? <PinOff /> : <Pin />}
        title={t(shown ? "pin_help" : "pin_too_large")}
        disabled={!shown}
        onClick={() => pin(pinned ? null : outputs)}
      >
        {t(pinned ? "unpin" : "pin")}
      </Button>
      {shown && (
        <Button size="sm" icon={<Pencil />} title={t("edit_output_help")} onClick={() => setEditing(true)}>
          {t("edit_output")}
        </Button>
      )}
      {editing && shown && (
        <EditOutput
          title={t("edit_output_of", { name: step.label || id })}
          outputs={shown}
          texts={textOutputs(step)}
          onClose={() => setEditing(false)}
          onPin={pin}
        />
      )}
    </>
  );
}

/** The outputs of a step whose values are texts. */
function textOutputs(step: StepOut): ReadonlySet<string> {
  const entries = Object.entries((step.output?.outputs ?? {}) as Record<string, { type?: string }>);
  return new Set(entries.filter(([, entry]) => entry.type === "Text").map(([name]) => name));
}
