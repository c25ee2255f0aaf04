import { useDraft } from "@/lib/draft";
import { namesOf } from "@/lib/nodeName";

type Step = { type: string; label: string } & ({ id: string } | { step_id: string });

/** What the steps of a run are called: as on the canvas. */
export function useNames(steps: readonly Step[]): Record<string, string> {
  const templates = useDraft((state) => state.templates);
  return namesOf(
    steps.map((step) => ({ id: "step_id" in step ? step.step_id : step.id, type: step.type, label: step.label })),
    templates,
  );
}
