import { ChevronRight, ClipboardList, Flag } from "lucide-react";
import { useState } from "react";
import { FlowFields, FormBuilder } from "@/components/form-builder";
import { cx } from "@/components/ui";
import { useDraft, useDraftParts } from "@/lib/draft";
import type { Wiring } from "@/lib/wiring";
import { useStepTexts } from "./texts";

const CARD = "rounded-lg border border-line bg-surface shadow-card";

/** What the run asks for, before the first step. */
export function FormCard() {
  const t = useStepTexts();
  const asked = useDraft((state) => state.document.form.map((one) => one.label || one.id).join(", "));
  const [open, setOpen] = useState(false);
  return (
    <section aria-label={t("form")} className={CARD}>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-2.5 px-3 py-2.5 text-left"
      >
        <ChevronRight aria-hidden className={cx("size-4 text-faint transition-transform", open && "rotate-90")} />
        <ClipboardList aria-hidden className="size-4.5 text-accent" />
        <span className="font-semibold">{t("form")}</span>
        <span className="min-w-0 flex-1 truncate text-muted text-sm">{asked || t("form_about")}</span>
      </button>
      {open && (
        <div className="flex flex-col gap-6 border-line border-t p-4">
          <FormBuilder />
          <div className="border-line border-t pt-4">
            <FlowFields />
          </div>
        </div>
      )}
    </section>
  );
}

/** What the run gives, behind the last step. */
export function ResultCard({ wiring }: { wiring: Wiring }) {
  const t = useStepTexts();
  const names = useDraftParts(({ document, templates }) =>
    wiring.order
      .filter((id) => (wiring.children[id] ?? []).length === 0)
      .map((id) => document.nodes[id]?.label || templates[document.nodes[id]?.type ?? ""]?.label || id),
  );
  return (
    <section aria-label={t("result")} className={cx(CARD, "flex items-center gap-2.5 px-3 py-2.5 pl-9.5")}>
      <Flag aria-hidden className="size-4.5 shrink-0 text-accent" />
      <span className="font-semibold">{t("result")}</span>
      <span className="min-w-0 flex-1 text-muted text-sm">
        {names.length > 0 ? t("result_about", { names: names.join(", ") }) : t("result_none")}
      </span>
    </section>
  );
}
