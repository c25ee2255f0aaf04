import { ArrowDownToLine, ArrowUpFromLine, Brain, Code, Wrench } from "lucide-react";
import type { GraphNode } from "@/api/queries/overview";
import { useOverviewTexts } from "./texts";

type Badge = NonNullable<GraphNode["badges"]>[number];
const ICONS = { http_in: ArrowDownToLine, http_out: ArrowUpFromLine, model: Brain, tools: Wrench, own_code: Code };

/** What a step works with, as signs with names. */
export function Badges({ badges }: { badges: readonly Badge[] }) {
  const t = useOverviewTexts();
  if (badges.length === 0) return null;
  return (
    <span className="flex shrink-0 gap-1.5">
      {badges.map((badge) => {
        const Icon = ICONS[badge];
        return (
          <span key={badge} title={t(badge)} role="img" aria-label={t(badge)}>
            <Icon aria-hidden className="size-3.5" />
          </span>
        );
      })}
    </span>
  );
}
