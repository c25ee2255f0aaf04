import { X } from "lucide-react";
import { AlertDialog, Dialog as RadixDialog } from "radix-ui";
import { type ReactNode, useRef } from "react";
import { Button, type ButtonKind } from "./Button";
import { cx } from "./cx";
import { openerOf } from "./opener";
import { useUiTexts } from "./texts";

const OVERLAY = "fixed inset-0 z-40 bg-overlay animate-fade";

interface DialogProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  description?: ReactNode;
  children: ReactNode;
  /** Buttons at the bottom, the main one last. */
  footer?: ReactNode;
  size?: "sm" | "md" | "lg" | "full";
  /** From the right edge instead of the middle. */
  side?: boolean;
}

const WIDTHS = { sm: "max-w-md", md: "max-w-xl", lg: "max-w-4xl", full: "max-w-[min(96vw,1400px)]" };

export function Dialog({ open, onOpenChange, title, description, children, footer, size = "md", side }: DialogProps) {
  const t = useUiTexts();
  const opener = useRef<HTMLElement | null>(null);
  return (
    <RadixDialog.Root open={open} onOpenChange={onOpenChange}>
      <RadixDialog.Portal>
        <RadixDialog.Overlay className={OVERLAY} />
        <RadixDialog.Content
          {...(description ? {} : { "aria-describedby": undefined })}
          onOpenAutoFocus={(event) => {
            opener.current = openerOf(document.activeElement);
            focusFirstField(event);
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            // Who opened it may have chosen another place already.
            if (document.activeElement === document.body) opener.current?.focus();
          }}
          className={cx(
            "fixed z-40 flex flex-col bg-surface shadow-modal outline-none",
            side
              ? "inset-y-0 right-0 w-full max-w-xl animate-slide border-l border-line"
              : "inset-x-2 top-[max(2vh,0.5rem)] mx-auto max-h-[96vh] animate-rise rounded-xl border border-line sm:top-[8vh] sm:max-h-[84vh]",
            !side && WIDTHS[size],
          )}
        >
          <header className="flex items-start gap-3 border-b border-line px-5 py-4">
            <div className="min-w-0 flex-1">
              <RadixDialog.Title className="text-lg font-semibold">{title}</RadixDialog.Title>
              {description && (
                <RadixDialog.Description className="mt-0.5 text-sm text-muted">{description}</RadixDialog.Description>
              )}
            </div>
            <RadixDialog.Close
              aria-label={t("close")}
              className="-mr-1.5 inline-flex size-8 items-center justify-center rounded-md text-faint hover:bg-hover hover:text-ink"
            >
              <X className="size-4.5" />
            </RadixDialog.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto px-5 py-4">{children}</div>
          {footer && (
            <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-5 py-3">{footer}</footer>
          )}
        </RadixDialog.Content>
      </RadixDialog.Portal>
    </RadixDialog.Root>
  );
}

const FIELDS = "[autofocus], input:not([type=hidden], :disabled), textarea:not(:disabled), [contenteditable=true]";

/** Writing can begin at once; where there is nothing to write the dialog itself has the focus, not its cross. */
function focusFirstField(event: Event): void {
  const content = event.currentTarget as HTMLElement;
  event.preventDefault();
  (content.querySelector<HTMLElement>(FIELDS) ?? content).focus({ preventScroll: true });
}

interface ConfirmProps {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: ReactNode;
  children: ReactNode;
  action: string;
  kind?: ButtonKind;
  busy?: boolean;
  onConfirm: () => void;
}

/** For what cannot be undone; what can be is done at once, with an undo in a toast. */
export function Confirm({
  open,
  onOpenChange,
  title,
  children,
  action,
  kind = "danger",
  busy,
  onConfirm,
}: ConfirmProps) {
  const t = useUiTexts();
  return (
    <AlertDialog.Root open={open} onOpenChange={onOpenChange}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className={OVERLAY} />
        <AlertDialog.Content className="fixed inset-x-2 top-[18vh] z-40 mx-auto max-w-md animate-rise rounded-xl border border-line bg-surface p-5 shadow-modal outline-none">
          <AlertDialog.Title className="text-lg font-semibold">{title}</AlertDialog.Title>
          <AlertDialog.Description asChild>
            <div className="mt-2 text-muted">{children}</div>
          </AlertDialog.Description>
          <div className="mt-5 flex justify-end gap-2">
            <AlertDialog.Cancel asChild>
              <Button>{t("cancel")}</Button>
            </AlertDialog.Cancel>
            <Button kind={kind} busy={busy ?? false} onClick={onConfirm}>
              {action}
            </Button>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
