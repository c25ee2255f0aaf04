import { CircleCheck, CircleX, Hand, Square } from "lucide-react";
import type { CodevSession } from "@/api/queries/codev";
import { Chip } from "@/components/ui";
import { STATUS_TONES } from "../model/said";
import { useCodevTexts } from "../texts";

const SIGNS = {
  in_progress: <span aria-hidden className="size-1.5 animate-pulse rounded-full bg-info" />,
  pending_interrupt: <Hand aria-hidden />,
  completed: <CircleCheck aria-hidden />,
  stopped: <Square aria-hidden />,
  error: <CircleX aria-hidden />,
};

/** How a session stands, as sign, colour and word. */
export function StatusChip({ status }: { status: CodevSession["status"] }) {
  const t = useCodevTexts();
  return (
    <Chip tone={STATUS_TONES[status]} icon={SIGNS[status]}>
      {t(`status_${status}`)}
    </Chip>
  );
}
