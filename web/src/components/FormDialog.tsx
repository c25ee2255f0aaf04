import type { ReactNode } from "react";
import { Button, Dialog, Problem } from "@/components/ui";
import { useUiTexts } from "@/components/ui/texts";

interface FormDialogProps {
  title: ReactNode;
  description?: ReactNode;
  /** The label of the button that submits. */
  action: string;
  /** Whether the form may be submitted. */
  ready?: boolean;
  busy: boolean;
  /** Why the last attempt failed. */
  error?: Error | null;
  onSubmit: () => void;
  onClose: () => void;
  children: ReactNode;
}

/** A form in a dialog: submitted by its button or by Enter, with the failure below its fields. */
export function FormDialog({
  title,
  description,
  action,
  ready = true,
  busy,
  error,
  onSubmit,
  onClose,
  children,
}: FormDialogProps) {
  const t = useUiTexts();
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={title}
      description={description}
      footer={
        <>
          <Button onClick={onClose}>{t("cancel")}</Button>
          <Button kind="primary" disabled={!ready} busy={busy} onClick={onSubmit}>
            {action}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) onSubmit();
        }}
      >
        {children}
        <button type="submit" hidden />
        {error && <Problem error={error} />}
      </form>
    </Dialog>
  );
}
