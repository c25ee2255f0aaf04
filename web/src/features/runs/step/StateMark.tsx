import {
  Ban,
  Circle,
  CircleAlert,
  CircleCheck,
  CircleMinus,
  Hourglass,
  Pin,
  Recycle,
  TriangleAlert,
} from "lucide-react";
import { Spinner } from "@/components/ui";
import { type RunTextKey, useRunTexts } from "../texts";

const MARKS: Record<string, { icon: typeof Circle; look: string }> = {
  completed: { icon: CircleCheck, look: "text-ok" },
  failed: { icon: CircleAlert, look: "text-bad" },
  cancelled: { icon: Ban, look: "text-warn" },
  waiting: { icon: Hourglass, look: "text-info" },
  skipped: { icon: CircleMinus, look: "text-faint" },
};

const CONTINUED = { icon: TriangleAlert, look: "text-warn" };

interface StateMarkProps {
  status: string;
  /** Whether its last attempt failed: a completed step whose run continued. */
  failed?: boolean;
  pinned?: boolean;
  reused?: boolean;
}

/** A step's state as a sign, with its word for those who do not see it. */
export function StateMark({ status, failed, pinned, reused }: StateMarkProps) {
  const t = useRunTexts();
  const continued = failed && status === "completed";
  const word = t(pinned ? "pinned" : reused ? "reused" : continued ? "failed_continued" : (status as RunTextKey));
  const { icon, look } = (continued ? CONTINUED : MARKS[status]) ?? { icon: Circle, look: "text-faint" };
  const Icon = pinned ? Pin : reused ? Recycle : icon;
  return (
    <span title={word} className={`inline-flex shrink-0 ${pinned || reused ? "text-accent" : look}`}>
      {status === "running" ? <Spinner className="text-info" /> : <Icon aria-hidden className="size-4" />}
      <span className="sr-only">{word}</span>
    </span>
  );
}
