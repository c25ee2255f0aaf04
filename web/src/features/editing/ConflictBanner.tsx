import { Button } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { Banner } from "./Banner";
import { useConflictView } from "./conflictView";
import { useEditingTexts } from "./texts";

/** Two changes of the same place: nothing is saved until somebody has chosen. */
export function ConflictBanner() {
  const t = useEditingTexts();
  const conflict = useDraft((state) => state.conflict);
  if (!conflict) return null;
  const look = () => useConflictView.setState({ open: true });
  return (
    <Banner
      tone="bad"
      title={t("conflict_title", { who: conflict.by || t("somebody") })}
      actions={
        <Button size="sm" kind="primary" onClick={look}>
          {t("look")}
        </Button>
      }
    >
      {t("conflict_lead", { count: conflict.items.length })}
    </Banner>
  );
}
