import { useState } from "react";
import { chooseRetention, type KnowledgeBase, knowledgeKeys } from "@/api/queries/knowledge";
import { useRights } from "@/api/rights";
import { FormDialog } from "@/components/FormDialog";
import { Button, Field, Input } from "@/components/ui";
import { useChange } from "@/components/useChange";
import { isRetention, MOST_DAYS } from "./retentionDays";
import { useKnowledgeTexts } from "./texts";

/** After how many days documents are deleted, if they are. */
export function Retention({ base }: { base: KnowledgeBase }) {
  const t = useKnowledgeTexts();
  const { may } = useRights();
  const [choosing, setChoosing] = useState(false);
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-muted">
      <span>{base.retention_days ? t("retained", { count: base.retention_days }) : t("retained_always")}</span>
      {may("knowledge.edit", base.space_id) && (
        <Button size="sm" onClick={() => setChoosing(true)}>
          {t("choose_retention")}
        </Button>
      )}
      {choosing && <ChooseDialog base={base} onClose={() => setChoosing(false)} />}
    </div>
  );
}

function ChooseDialog({ base, onClose }: { base: KnowledgeBase; onClose: () => void }) {
  const t = useKnowledgeTexts();
  const [days, setDays] = useState(String(base.retention_days));
  const count = Number(days);
  const change = useChange<void>({ change: () => chooseRetention(base.id, count), touches: [knowledgeKeys.bases] });
  return (
    <FormDialog
      title={t("retention")}
      action={t("save")}
      ready={isRetention(days)}
      busy={change.isPending}
      error={change.error}
      onSubmit={() => change.mutate(undefined, { onSuccess: onClose })}
      onClose={onClose}
    >
      <Field label={t("retention_days")} help={t("retention_help")}>
        {(control) => (
          <Input
            {...control}
            type="number"
            min={0}
            max={MOST_DAYS}
            value={days}
            onChange={(event) => setDays(event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  );
}
