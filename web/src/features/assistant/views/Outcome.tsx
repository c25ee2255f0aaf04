import { ChevronRight, CircleAlert, CircleCheck } from "lucide-react";
import { Button, Callout } from "@/components/ui";
import type { AssistantMessage } from "../model/message";
import { useAssistantTexts } from "../texts";
import { useAssistant, useConversation } from "./context";

/** What was done, read back from the flow: its lines, whether it runs now, and where the words said otherwise. */
export function Outcome({ message }: { message: AssistantMessage }) {
  const t = useAssistantTexts();
  return (
    <>
      {message.changes.length > 0 && <Changes message={message} />}
      {message.caveat && <Callout tone="warn">{message.caveat}</Callout>}
      {message.refused?.length > 0 && <Refused message={message} />}
      {message.note && (
        <Callout tone="warn" title={t("truth")}>
          {message.note}
        </Callout>
      )}
      {message.keptVersion !== null && (
        <p className="text-xs text-muted">{t("kept_version", { version: message.keptVersion })}</p>
      )}
    </>
  );
}

/** Calls that were not made because content from outside may have decided them. The user may allow them once. */
function Refused({ message }: { message: AssistantMessage }) {
  const t = useAssistantTexts();
  const conversation = useConversation();
  const busy = useAssistant((state) => state.working !== null);
  return (
    <Callout tone="warn" title={t("outside_refused")}>
      <ul className="flex flex-col gap-1">
        {message.refused.map((one) => (
          <li key={one.tool}>{one.detail}</li>
        ))}
      </ul>
      <p className="mt-1 text-muted">{t("outside_hint")}</p>
      <Button className="mt-2" size="sm" disabled={busy} onClick={() => void conversation.allowRefused(message.id)}>
        {t("outside_allow")}
      </Button>
    </Callout>
  );
}

const LOOKS: Record<string, string> = { "+": "text-ok", "-": "text-bad", "~": "text-warn" };

function Changes({ message }: { message: AssistantMessage }) {
  const t = useAssistantTexts();
  const { changes, proposal } = message;
  const waits = proposal !== null && proposal.times === 0;
  return (
    <details className="group rounded-md border border-line text-sm">
      <summary className="flex min-h-8 items-center gap-2 px-2.5 py-1 [&::-webkit-details-marker]:hidden">
        <ChevronRight aria-hidden className="size-3.5 text-faint transition-transform group-open:rotate-90" />
        <span className="flex-1">{t(waits ? "changes_proposed" : "changes_count", { count: changes.length })}</span>
        <Runnable message={message} />
      </summary>
      <ul
        aria-label={t("changes")}
        className="max-h-56 overflow-y-auto border-t border-line px-2.5 py-1.5 font-mono text-xs"
      >
        {changes.map((line) => (
          <li key={line} className="flex gap-2 break-all">
            <span aria-hidden className={LOOKS[line[0] ?? ""] ?? "text-muted"}>
              {line[0]}
            </span>
            {line.slice(1).trim()}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Runnable({ message }: { message: AssistantMessage }) {
  const t = useAssistantTexts();
  const { validation } = message;
  if (!validation) return null;
  const errors = validation.issues.filter((one) => one.severity !== "warning");
  const issues = errors.map((one) => one.message).join("\n");
  return validation.runnable ? (
    <span className="flex items-center gap-1 text-xs text-ok">
      <CircleCheck aria-hidden className="size-3.5" />
      {t("runnable")}
    </span>
  ) : (
    <span className="flex items-center gap-1 text-xs text-warn" title={issues}>
      <CircleAlert aria-hidden className="size-3.5" />
      {t("not_runnable", { count: errors.length })}
    </span>
  );
}
