import { Dialog } from "@/components/ui";
import { useNames } from "../model/useNames";
import type { FollowedRun } from "../model/useRun";
import { StepView } from "./StepView";

interface StepDialogProps {
  followed: FollowedRun;
  stepId: string;
  onClose: () => void;
}

/** A step of a run, from the right. */
export function StepDialog({ followed, stepId, onClose }: StepDialogProps) {
  const step = followed.live?.steps[stepId];
  const names = useNames(Object.values(followed.live?.steps ?? {}));
  if (!followed.live || !step) return null;
  return (
    <Dialog open onOpenChange={onClose} title={names[stepId]} side>
      <StepView runId={followed.live.id} live={step} />
    </Dialog>
  );
}
