import { type ReactNode, useState } from "react";
import { ApiError } from "@/api/problem";
import { Dialog } from "@/components/ui";
import { ConfirmForm } from "./ConfirmForm";
import { useSecondFactorTexts } from "./texts";

/** The ways to confirm that an error names; null for any other error. */
export function confirmationNeeded(error: unknown): readonly string[] | null {
  if (!(error instanceof ApiError) || error.code !== "confirmation_needed") return null;
  const { methods } = error.problem;
  return Array.isArray(methods) ? methods.map(String) : [];
}

/** For changes that need a recent confirmation: `ask(error, again)` shows the dialog and repeats the change. */
export function useConfirmed(): { ask: (error: unknown, again: () => void) => boolean; dialog: ReactNode } {
  const t = useSecondFactorTexts();
  const [asked, setAsked] = useState<{ methods: readonly string[]; again: () => void }>();
  const ask = (error: unknown, again: () => void) => {
    const methods = confirmationNeeded(error);
    if (methods) setAsked({ methods, again });
    return methods !== null;
  };
  const dialog = asked && (
    <Dialog
      open
      size="sm"
      title={t("confirm")}
      description={t("confirm_more")}
      onOpenChange={(open) => !open && setAsked(undefined)}
    >
      <ConfirmForm
        methods={asked.methods}
        onDone={() => {
          setAsked(undefined);
          asked.again();
        }}
      />
    </Dialog>
  );
  return { ask, dialog };
}
