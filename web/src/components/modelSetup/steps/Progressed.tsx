import { Check } from "lucide-react";
import { cx } from "@/components/ui";
import { type ModelSetupText, useModelSetupTexts } from "../texts";

const STEPS: readonly { id: "connect" | "choose" | "done"; text: ModelSetupText }[] = [
  { id: "connect", text: "step_connect" },
  { id: "choose", text: "step_choose" },
  { id: "done", text: "step_done" },
];

/** Which of the three steps it is. */
export function Progressed({ at }: { at: "connect" | "choose" | "done" }) {
  const t = useModelSetupTexts();
  const now = STEPS.findIndex(({ id }) => id === at);
  return (
    <ol aria-label={t("steps_label")} className="flex flex-wrap gap-x-5 gap-y-2 text-sm">
      {STEPS.map(({ id, text }, index) => (
        <li
          key={id}
          aria-current={index === now ? "step" : undefined}
          className={cx("flex items-center gap-2", index === now ? "font-medium text-ink" : "text-muted")}
        >
          <span
            aria-hidden
            className={cx(
              "flex size-5 items-center justify-center rounded-full text-xs [&_svg]:size-3.5",
              index <= now ? "bg-accent text-on-accent" : "border border-line-strong",
            )}
          >
            {index < now || at === "done" ? <Check /> : index + 1}
          </span>
          {t(text)}
        </li>
      ))}
    </ol>
  );
}
