import { useQuery } from "@tanstack/react-query";
import { ThumbsDown, ThumbsUp } from "lucide-react";
import { useState } from "react";
import { chatKeys, feedbackQuery, rateAnswer } from "@/api/queries/chat";
import { Button, Dialog, Field, IconButton, Textarea } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useChatTexts } from "./texts";

/** Whether an answer was helpful, and what a correct one would be. */
export function Rating({ conversationId, runId }: { conversationId: string; runId: string }) {
  const t = useChatTexts();
  const [correcting, setCorrecting] = useState(false);
  const { data } = useQuery(feedbackQuery(conversationId));
  const rated = data?.find(({ run_id }) => run_id === runId);
  const rate = useChange({
    change: ({ helpful, correction }: { helpful: boolean; correction: string }) =>
      rateAnswer(conversationId, runId, helpful, correction),
    touches: [chatKeys.feedback(conversationId)],
    failed: t("not_rated"),
  });
  return (
    <>
      <IconButton
        size="sm"
        label={t("helpful")}
        aria-pressed={rated?.helpful === true}
        className={rated?.helpful === true ? "text-ok" : ""}
        onClick={() => rate.mutate({ helpful: true, correction: "" })}
      >
        <ThumbsUp />
      </IconButton>
      <IconButton
        size="sm"
        label={t("not_helpful")}
        aria-pressed={rated?.helpful === false}
        className={rated?.helpful === false ? "text-bad" : ""}
        onClick={() => setCorrecting(true)}
      >
        <ThumbsDown />
      </IconButton>
      {correcting && (
        <CorrectionDialog
          correction={rated?.correction ?? ""}
          busy={rate.isPending}
          onClose={() => setCorrecting(false)}
          onSend={(correction) =>
            rate.mutate({ helpful: false, correction }, { onSuccess: () => setCorrecting(false) })
          }
        />
      )}
    </>
  );
}

interface CorrectionDialogProps {
  correction: string;
  busy: boolean;
  onClose: () => void;
  onSend: (correction: string) => void;
}

function CorrectionDialog({ correction, busy, onClose, onSend }: CorrectionDialogProps) {
  const t = useChatTexts();
  const [text, setText] = useState(correction);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("not_helpful")}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" busy={busy} onClick={() => onSend(text.trim())}>
            {t("send_feedback")}
          </Button>
        </>
      }
    >
      <Field label={t("correction")} help={t("correction_help")}>
        {(control) => (
          <Textarea
            {...control}
            rows={4}
            value={text}
            maxLength={10_000}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
    </Dialog>
  );
}
