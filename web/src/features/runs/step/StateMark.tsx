import { Ban, Circle, CircleAlert, CircleCheck, CircleMinus, Pin, Recycle } from "lucide-react";
import { Spinner } from "@/components/ui";
import { type RunTextKey, useRunTexts } from "../texts";

const MARKS: Record<string, { icon: typeof Circle; look: string }> = {
  completed: { icon: CircleCheck, look: "text-ok" },
  failed: { icon: CircleAlert, look: "text-bad" },
  cancelled: { icon: Ban, look: "text-warn" },
  skipped: { icon: CircleMinus, look: "text-faint" },
};

interface StateMarkProps {
  status: string;
  pinned?: boolean;
  reused?: boolean;
}

/** A step's state as a sign, with its word for those who do not see it. */
export function StateMark({ status, pinned, reused }: StateMarkProps) {
  const t = useRunTexts();
  const word = t(pinned ? "pinned" : reused ? "reused" : (status as RunTextKey));
  const { icon, look } = MARKS[status] ?? { icon: Circle, look: "text-faint" };
  const Icon = pinned ? Pin : reused ? Recycle : icon;
  return (
    <span title={word} className={`inline-flex shrink-0 ${pinned || reused ? "text-accent" : look}`}>
      {status === "running" ? <Spinner className="text-info" /> : <Icon aria-hidden className="size-4" />}
      <span className="sr-only">{word}</span>
    </span>
  );
}
