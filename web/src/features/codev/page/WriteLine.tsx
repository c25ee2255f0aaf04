import { CircleDashed, CircleSlash, PencilLine, RotateCcw } from "lucide-react";
import { Chip } from "@/components/ui";
import { capital } from "../model/said";
import { writeWords } from "../model/written";
import { useCodevTexts } from "../texts";

const SIGNS: Record<string, typeof PencilLine> = {
  intended: CircleDashed,
  done: PencilLine,
  refused: CircleSlash,
  rolled_back: RotateCcw,
};

/** One write of the flow, and whether it stands. */
export function WriteLine({ summary, tool, state }: { summary: string; tool: string; state: string }) {
  const t = useCodevTexts();
  const Sign = SIGNS[state] ?? PencilLine;
  return (
    <span className="flex items-start gap-2 text-sm">
      <Sign aria-hidden className="mt-0.5 size-3.5 shrink-0 text-accent" />
      <span className="min-w-0 flex-1 break-words">
        {summary ? writeWords(t, summary) : capital(tool.replaceAll("_", " "))}
      </span>
      {state === "intended" && <Chip>{t("write_intended")}</Chip>}
      {state === "refused" && <Chip tone="warn">{t("write_refused")}</Chip>}
      {state === "kept" && <Chip>{t("write_kept")}</Chip>}
      {state === "rolled_back" && tool !== "rollback" && <Chip tone="warn">{t("write_rolled_back")}</Chip>}
    </span>
  );
}
