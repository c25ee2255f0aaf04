import { Progress } from "@/components/ui";
import { number } from "@/lib/i18n/format";
import { useCodevTexts } from "../texts";

/** Tokens that were used, of those that may be. */
export function Tokens({ used, budget }: { used: number; budget: number }) {
  const t = useCodevTexts();
  const said = t("tokens_of", { used: number(used), budget: number(budget) });
  return (
    <span className="flex items-center gap-2 tabular-nums">
      <span className="w-20">
        <Progress value={budget > 0 ? Math.min(used / budget, 1) : 0} label={said} />
      </span>
      <span className="whitespace-nowrap text-xs">{said}</span>
    </span>
  );
}
