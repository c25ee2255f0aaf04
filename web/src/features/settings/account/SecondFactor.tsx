import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ShieldCheck } from "lucide-react";
import { useState } from "react";
import { removeTotp, renewRecoveryCodes, secondFactorKeys, secondFactorQuery } from "@/api/queries/secondFactor";
import { sessionKeys } from "@/api/queries/sessions";
import { EnrolTotp, RecoveryCodes, useConfirmed } from "@/components/secondFactor";
import { Button, Chip, Confirm, Dialog, Problem, Row, Rows, Skeleton, toastError } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { dateTime } from "@/lib/i18n/format";
import { Part } from "../Section";
import { useSettingsTexts } from "../texts";

/** The caller's authenticator app and recovery codes. */
export function SecondFactor() {
  const t = useSettingsTexts();
  const queryClient = useQueryClient();
  const own = useQuery(secondFactorQuery);
  const [open, setOpen] = useState<"set_up" | "remove">();
  const { ask, dialog } = useConfirmed();
  const touches = [secondFactorKeys.own, sessionKeys.all];
  const close = () => {
    setOpen(undefined);
    renew.reset();
    for (const queryKey of touches) void queryClient.invalidateQueries({ queryKey });
  };
  const renew = useChange({ change: renewRecoveryCodes, touches });
  const remove = useChange({ change: removeTotp, touches });
  const renewed = () =>
    renew.mutate(undefined, {
      onError: (error) => ask(error, renewed) || toastError(t("save_failed"), error),
    });
  const removed = () =>
    remove.mutate(undefined, {
      onSuccess: close,
      onError: (error) => {
        setOpen(undefined);
        return ask(error, removed) || toastError(t("save_failed"), error);
      },
    });
  if (own.isError) return <Problem error={own.error} retry={() => void own.refetch()} />;
  if (!own.data) return <Skeleton className="h-14" />;
  const { totp_since: since, recovery_codes_left: left, required } = own.data;
  return (
    <Part title={t("second_factor")} about={t(required ? "second_factor_required" : "second_factor_about")}>
      <Rows label={t("second_factor")}>
        <Row
          icon={<ShieldCheck />}
          title={
            <>
              {t("authenticator_app")}
              {since && <Chip tone="ok">{t("on")}</Chip>}
            </>
          }
          detail={since ? t("since_with_codes", { when: dateTime(since), left }) : t("authenticator_app_about")}
          aside={
            since ? (
              <>
                <Button size="sm" busy={renew.isPending} onClick={renewed}>
                  {t("new_recovery_codes")}
                </Button>
                {!required && (
                  <Button size="sm" kind="danger" onClick={() => setOpen("remove")}>
                    {t("remove")}
                  </Button>
                )}
              </>
            ) : (
              <Button size="sm" kind="primary" onClick={() => setOpen("set_up")}>
                {t("set_up")}
              </Button>
            )
          }
        />
      </Rows>
      {open === "set_up" && (
        <Dialog open size="sm" title={t("authenticator_app")} onOpenChange={(next) => !next && close()}>
          <EnrolTotp onDone={close} />
        </Dialog>
      )}
      {renew.data && (
        <Dialog open size="sm" title={t("new_recovery_codes")} onOpenChange={(next) => !next && close()}>
          <RecoveryCodes codes={renew.data.recovery_codes} onDone={close} />
        </Dialog>
      )}
      <Confirm
        open={open === "remove"}
        onOpenChange={(next) => !next && setOpen(undefined)}
        title={t("remove_authenticator")}
        action={t("remove")}
        busy={remove.isPending}
        onConfirm={removed}
      >
        {t("remove_authenticator_more")}
      </Confirm>
      {dialog}
    </Part>
  );
}
