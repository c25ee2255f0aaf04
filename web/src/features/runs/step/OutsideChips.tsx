import { Globe } from "lucide-react";
import type { StepOut } from "@/api/types";
import { Chip } from "@/components/ui";
import { type RunTextKey, useRunTexts } from "../texts";

const MOST = 3;
const KINDS = [
  "web",
  "file",
  "server",
  "description",
  "visitor",
  "chat",
  "workspace",
  "pinned",
  "run",
  "component",
  "event",
];

/** Where the content from outside comes from that reached a step. */
export function OutsideChips({ sources }: { sources: NonNullable<StepOut["outside_content"]> }) {
  const t = useRunTexts();
  if (sources.length === 0) return null;
  const words = sources.map(({ kind, name }) =>
    t((KINDS.includes(kind) ? `outside_${kind}` : "outside_more") as RunTextKey, { name }),
  );
  const more = words.length - MOST;
  const shown = words.slice(0, MOST).join(", ") + (more > 0 ? ` +${more}` : "");
  return (
    <Chip tone="warn" icon={<Globe aria-hidden />} title={words.join("\n")}>
      {t("outside", { sources: shown })}
    </Chip>
  );
}
