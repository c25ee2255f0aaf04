import { Suspense, useState } from "react";
import { useRights } from "@/api/rights";
import { Markdown } from "@/components/markdown/Markdown";
import { AskAnAdmin } from "@/components/modelSetup/AskAnAdmin";
import { part } from "@/lib/part";
import { NearTemplates } from "../templates/NearTemplates";
import { useHomeTexts } from "../texts";
import type { Refusal } from "./useCreateFlow";

const SetupGuide = part(async () => ({ default: (await import("@/components/modelSetup")).SetupGuide }));

interface RefusedProps {
  refusal: Refusal;
  onChoose: (sentence: string) => void;
}

/** What was answered instead of a flow, and sentences near it that can be built: each is put into the box. */
export function Refused({ refusal, onChoose }: RefusedProps) {
  const t = useHomeTexts();
  const { may } = useRights();
  const connects = may("models.manage") && may("variables.manage");
  const [connecting, setConnecting] = useState(false);
  return (
    <div role="status" className="mt-3 rounded-xl border border-line bg-surface px-4 py-3">
      <NearTemplates sentence={refusal.sentence} />
      <Markdown text={withoutChoices(refusal)} />
      {refusal.choices.length > 0 && (
        <ul aria-label={t("choices")} className="mt-2 flex flex-col items-start gap-1.5">
          {refusal.choices.map((choice) => (
            <li key={choice} className="max-w-full">
              <button
                type="button"
                onClick={() => onChoose(choice)}
                className="max-w-full rounded-md border border-line bg-raised px-3 py-1.5 text-left text-sm hover:border-line-strong hover:bg-hover"
              >
                {choice}
              </button>
            </li>
          ))}
        </ul>
      )}
      <p className="mt-3 text-sm text-muted">
        {t("only_a_model")}{" "}
        {connects ? (
          <button type="button" className="font-medium text-accent hover:underline" onClick={() => setConnecting(true)}>
            {t("connect_model")}
          </button>
        ) : (
          <AskAnAdmin />
        )}
      </p>
      {connecting && (
        <Suspense>
          <SetupGuide onClose={() => setConnecting(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** The text without the lines that are buttons. */
function withoutChoices({ choices, text }: Refusal): string {
  const lines = new Set(choices.map((choice) => `- ${choice}`));
  return text
    .split("\n")
    .filter((line) => !lines.has(line))
    .join("\n")
    .trim();
}
