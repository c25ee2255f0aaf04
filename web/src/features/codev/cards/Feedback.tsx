import type { Interrupt } from "@/api/queries/codev";
import { Button, Field, Textarea } from "@/components/ui";
import { useKept } from "../model/useKept";
import { useCodevTexts } from "../texts";

interface FeedbackProps {
  /** What it is said of. */
  interrupt: Interrupt;
  busy: boolean;
  onSend: (feedback: string) => void;
  onCancel: () => void;
}

/** What should be otherwise, in words. */
export function Feedback({ interrupt, busy, onSend, onCancel }: FeedbackProps) {
  const t = useCodevTexts();
  const [text, setText] = useKept<string>(interrupt.id, "feedback", "");
  return (
    <form
      className="flex w-full flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() && !busy) onSend(text.trim());
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onCancel();
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
          event.stopPropagation();
          event.currentTarget.requestSubmit();
        }
      }}
    >
      <Field label={t("otherwise")} help={t("otherwise_help")}>
        {(control) => (
          <Textarea
            {...control}
            autoFocus
            maxLength={20_000}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" kind="primary" disabled={!text.trim()} busy={busy}>
          {t("send_changes")}
        </Button>
        <Button onClick={onCancel}>{t("cancel")}</Button>
      </div>
    </form>
  );
}
