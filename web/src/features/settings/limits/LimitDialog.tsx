import { useState } from "react";
import { type Quota, quotaKeys, setQuota } from "@/api/queries/quotas";
import { FormDialog } from "@/components/FormDialog";
import { Field, Input } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { number } from "@/lib/i18n/format";
import { useSettingsTexts } from "../texts";
import { amountOf, QUOTA_NAMES, unitOf } from "./groups";

/** Sets one limit; an empty field removes it. */
export function LimitDialog({ quota, who, onClose }: { quota: Quota; who: string; onClose: () => void }) {
  const t = useSettingsTexts();
  const unit = unitOf(quota);
  const [amount, setAmount] = useState(quota.stored === null ? "" : String(quota.stored / unit));
  const save = useChange({
    change: () =>
      setQuota({
        scope: quota.scope,
        quota: quota.quota,
        space_id: quota.space_id,
        most: amount.trim() === "" ? null : Math.round(Number(amount) * unit),
      }),
    touches: [quotaKeys.all],
    done: t("limit_saved"),
  });
  const what = t(QUOTA_NAMES[quota.quota]);
  const pattern = unit === 1 ? /^\d{1,15}$/ : /^\d{1,9}(\.\d+)?$/;
  const ready = amount.trim() === "" || pattern.test(amount.trim());
  const submit = () => save.mutate(undefined, { onSuccess: onClose });
  return (
    <FormDialog
      title={t("limit_of", { what, who })}
      action={t("save")}
      ready={ready}
      busy={save.isPending}
      error={save.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={unit === 1 ? what : t("limit_in_mb", { what })}
        help={
          quota.ceiling === null ? t("limit_help") : t("limit_help_ceiling", { most: amountOf(quota, quota.ceiling) })
        }
        error={ready ? null : t(unit === 1 ? "limit_number" : "limit_amount")}
      >
        {(control) => (
          <Input
            {...control}
            inputMode="numeric"
            value={amount}
            placeholder={quota.ceiling === null ? t("no_limit") : number(quota.ceiling / unit)}
            onChange={(event) => setAmount(event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  );
}
