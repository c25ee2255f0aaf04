import { CircleCheck, CircleX } from "lucide-react";
import type { AlertTest } from "@/api/queries/alerts";
import { Button, Dialog, Problem, Row, Rows, Skeleton } from "@/components/ui";
import { useAlertTexts } from "./texts";

interface TestDialogProps {
  name: string;
  outcomes: readonly AlertTest[] | undefined;
  busy: boolean;
  error: Error | null;
  onClose: () => void;
}

/** What each channel of a rule answered to a test notice. */
export function TestDialog({ name, outcomes, busy, error, onClose }: TestDialogProps) {
  const t = useAlertTexts();
  const title = t("test_title", { name });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={title}
      footer={<Button onClick={onClose}>{t("close")}</Button>}
    >
      {busy && <Skeleton className="h-14" />}
      {error && <Problem error={error} />}
      {outcomes && (
        <Rows label={title}>
          {outcomes.map((one) => (
            <Row
              key={one.channel}
              icon={
                one.delivered ? (
                  <CircleCheck aria-hidden className="text-ok" />
                ) : (
                  <CircleX aria-hidden className="text-bad" />
                )
              }
              title={`${t(`channel_${one.channel}`)}: ${t(one.delivered ? "test_delivered" : "test_failed")}`}
              detail={[one.status, one.message].filter(Boolean).join(" · ")}
            />
          ))}
        </Rows>
      )}
    </Dialog>
  );
}
