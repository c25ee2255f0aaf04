import { useMutation } from "@tanstack/react-query";
import { Fingerprint } from "lucide-react";
import { useState } from "react";
import { confirmWithPasskey, knowsPasskeys } from "@/api/queries/passkeys";
import { confirmSession } from "@/api/queries/secondFactor";
import { Button, Callout, Field, Input, Problem } from "@/components/ui";
import { useSecondFactorTexts } from "./texts";

/** Asks for what confirms the session: a code where there is a second factor, else the password. */
export function ConfirmForm({ methods, onDone }: { methods: readonly string[]; onDone: () => void }) {
  const t = useSecondFactorTexts();
  const [typed, setTyped] = useState("");
  const byPassword = methods.includes("password");
  const confirm = useMutation({
    mutationFn: () => confirmSession(byPassword ? { password: typed } : { code: typed }),
    onSuccess: onDone,
  });
  const passkey = useMutation({ mutationFn: confirmWithPasskey, onSuccess: onDone });
  if (methods.length === 0) return <Callout>{t("sign_in_again")}</Callout>;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed) confirm.mutate();
      }}
    >
      <Field label={t(byPassword ? "password" : "code")} {...(byPassword ? {} : { help: t("code_help") })}>
        {(control) => (
          <Input
            {...control}
            autoFocus
            type={byPassword ? "password" : "text"}
            autoComplete={byPassword ? "current-password" : "one-time-code"}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
      </Field>
      {passkey.isError && <Callout tone="bad">{t("passkey_failed")}</Callout>}
      {confirm.isError && <Problem error={confirm.error} />}
      <div className="flex flex-wrap justify-end gap-2">
        {methods.includes("passkey") && knowsPasskeys() && (
          <Button icon={<Fingerprint />} busy={passkey.isPending} onClick={() => passkey.mutate()}>
            {t("use_passkey")}
          </Button>
        )}
        <Button type="submit" kind="primary" disabled={!typed} busy={confirm.isPending}>
          {t("confirm_action")}
        </Button>
      </div>
    </form>
  );
}
