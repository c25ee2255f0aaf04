import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { beginTotp, confirmTotp } from "@/api/queries/secondFactor";
import { Button, CopyButton, Field, Input, Problem } from "@/components/ui";
import { ConfirmForm } from "./ConfirmForm";
import { RecoveryCodes } from "./RecoveryCodes";
import { useSecondFactorTexts } from "./texts";
import { confirmationNeeded } from "./useConfirmed";

/** Sets up an authenticator app: the QR code, its first code, the recovery codes. */
export function EnrolTotp({ onDone }: { onDone: () => void }) {
  const t = useSecondFactorTexts();
  const [code, setCode] = useState("");
  const begin = useMutation({ mutationFn: beginTotp });
  const confirm = useMutation({
    mutationFn: () => confirmTotp(code),
    onSuccess: ({ recovery_codes: codes }) => codes.length === 0 && onDone(),
  });
  const methods = confirmationNeeded(begin.error) ?? confirmationNeeded(confirm.error);
  if (methods) {
    const resume = () => (begin.isError ? begin.mutate() : confirm.reset());
    return <ConfirmForm methods={methods} onDone={resume} />;
  }
  if (confirm.data) return <RecoveryCodes codes={confirm.data.recovery_codes} onDone={onDone} />;
  if (!begin.data) {
    return (
      <div className="flex flex-col gap-4">
        <p className="text-sm text-muted">{t("set_up_more")}</p>
        {begin.isError && <Problem error={begin.error} />}
        <Button kind="primary" size="lg" autoFocus busy={begin.isPending} onClick={() => begin.mutate()}>
          {t("set_up")}
        </Button>
      </div>
    );
  }
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (code.trim()) confirm.mutate();
      }}
    >
      <p className="text-sm text-muted">{t("scan")}</p>
      <img src={begin.data.qr} alt={t("qr")} className="size-48 self-center rounded-md bg-white" />
      <div className="flex flex-col gap-1">
        <p className="text-sm text-muted">{t("by_hand")}</p>
        <div className="flex items-center gap-2 rounded-md border border-line-strong bg-sunken py-1.5 pr-1.5 pl-3">
          <code data-testid="totp-secret" className="min-w-0 flex-1 break-all font-mono text-sm">
            {begin.data.secret}
          </code>
          <CopyButton text={begin.data.secret} label={t("copy_secret")} />
        </div>
      </div>
      <Field label={t("first_code")} help={t("first_code_help")}>
        {(control) => (
          <Input
            {...control}
            autoFocus
            inputMode="numeric"
            autoComplete="one-time-code"
            maxLength={10}
            value={code}
            onChange={(event) => setCode(event.target.value)}
          />
        )}
      </Field>
      {confirm.isError && <Problem error={confirm.error} />}
      <Button type="submit" kind="primary" className="self-end" disabled={!code.trim()} busy={confirm.isPending}>
        {t("turn_on")}
      </Button>
    </form>
  );
}
