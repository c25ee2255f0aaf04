import { duration, money, number } from "@/lib/i18n/format";
import type { AssistantMessage } from "../model/message";
import { useAssistantTexts } from "../texts";

/** What an answer used and took: tokens, time, and money where prices are known. */
export function Usage({ message }: { message: AssistantMessage }) {
  const t = useAssistantTexts();
  const { usage, seconds, usd } = message;
  if (seconds === null) return null;
  const parts = [
    usage && usage.total_tokens > 0 ? t("usage_tokens", { count: number(usage.total_tokens) }) : null,
    duration(seconds * 1000),
    usd === null ? null : money(usd),
  ].filter(Boolean);
  const split = usage && t("usage_split", { input: number(usage.input_tokens), output: number(usage.output_tokens) });
  return (
    <span
      role="note"
      aria-label={t("usage")}
      title={[message.model, split].filter(Boolean).join(" · ")}
      className="truncate text-xs text-faint tabular-nums"
    >
      {parts.join(" · ")}
    </span>
  );
}
