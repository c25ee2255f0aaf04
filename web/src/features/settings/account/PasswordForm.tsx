import { useState } from "react";
import { changePassword, sessionKeys } from "@/api/queries/sessions";
import { confirmationNeeded, useConfirmed } from "@/components/secondFactor";
import { Button, Field, Input, Problem } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { useSettingsTexts } from "../texts";

const SHORTEST = 12;

/** Changes one's password; all other sessions end. */
export function PasswordForm() {
  const t = useSettingsTexts();
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const change = useChange({
    change: () => changePassword(current, next),
    touches: [sessionKeys.all],
    done: t("password_changed"),
  });
  const { ask, dialog } = useConfirmed();
  const send = () =>
    change.mutate(undefined, {
      onSuccess: () => {
        setCurrent("");
        setNext("");
      },
      onError: (error) => ask(error, send),
    });
  const short = next !== "" && [...next.normalize("NFKC")].length < SHORTEST;
  return (
    <>
      <form
        className="flex max-w-sm flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <Field label={t("current_password")}>
          {(control) => (
            <Input
              {...control}
              type="password"
              autoComplete="current-password"
              value={current}
              onChange={(event) => setCurrent(event.target.value)}
            />
          )}
        </Field>
        <Field label={t("new_password")} help={t("password_rule")} error={short ? t("password_short") : null}>
          {(control) => (
            <Input
              {...control}
              type="password"
              autoComplete="new-password"
              value={next}
              onChange={(event) => setNext(event.target.value)}
            />
          )}
        </Field>
        {change.isError && !confirmationNeeded(change.error) && <Problem error={change.error} />}
        <Button type="submit" className="self-start" disabled={!current || !next || short} busy={change.isPending}>
          {t("change_password")}
        </Button>
      </form>
      {dialog}
    </>
  );
}
