import { useState } from "react";
import { ComponentIcon } from "@/components/icons/ComponentIcon";
import { ICONS } from "@/components/icons/componentIcons";
import { Button, cx, Dialog, Field, Input, Textarea } from "@/components/ui";
import { useDraftStore } from "@/lib/draft";
import { useAppTexts } from "../../texts";
import { FlowOwner } from "./FlowOwner";

const MOST_DAYS = 36_500;

/** What belongs to the flow as a whole. Kept as one step that can be undone, and saved with the draft. */
export function FlowSettingsDialog({ onClose }: { onClose: () => void }) {
  const t = useAppTexts();
  const store = useDraftStore();
  const [form, setForm] = useState(() => {
    const { name, description, settings } = store.getState().document;
    const days = settings.data_retention_days;
    return {
      name,
      description,
      icon: settings.icon ?? "",
      days: days ? String(days) : "",
    };
  });
  const set = (more: Partial<typeof form>) => setForm((now) => ({ ...now, ...more }));
  const days = Number(form.days);
  const wrongDays = form.days !== "" && !(Number.isInteger(days) && days >= 1 && days <= MOST_DAYS);
  const wrongName = form.name.trim() === "";
  const keep = () => {
    if (wrongDays || wrongName) return;
    store.getState().change({ label: t("change_settings") }, (draft) => {
      draft.name = form.name.trim();
      draft.description = form.description;
      draft.settings.icon = form.icon;
      draft.settings.data_retention_days = form.days === "" ? null : days;
    });
    onClose();
  };
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={t("flow_settings")}
      footer={
        <Button kind="primary" onClick={keep} disabled={wrongDays || wrongName}>
          {t("done")}
        </Button>
      }
    >
      <form
        className="flex flex-col gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          keep();
        }}
      >
        <Field label={t("flow_name")} required error={wrongName ? t("name_needed") : null}>
          {(control) => (
            <Input
              {...control}
              value={form.name}
              maxLength={200}
              onChange={(event) => set({ name: event.target.value })}
            />
          )}
        </Field>
        <Field label={t("description")} help={t("description_help")}>
          {(control) => (
            <Textarea
              {...control}
              value={form.description}
              maxLength={10_000}
              onChange={(event) => set({ description: event.target.value })}
            />
          )}
        </Field>
        <Icons value={form.icon} onChange={(icon) => set({ icon })} />
        <Field label={t("retention")} help={t("retention_help")} error={wrongDays ? t("retention_wrong") : null}>
          {(control) => (
            <Input
              {...control}
              inputMode="numeric"
              className="max-w-32"
              placeholder={t("retention_default")}
              value={form.days}
              onChange={(event) => set({ days: event.target.value.trim() })}
            />
          )}
        </Field>
        <FlowOwner />
        <button type="submit" hidden />
      </form>
    </Dialog>
  );
}

function Icons({ value, onChange }: { value: string; onChange: (icon: string) => void }) {
  const t = useAppTexts();
  const names = value && !(value in ICONS) ? ["", value, ...Object.keys(ICONS)] : ["", ...Object.keys(ICONS)];
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-medium">{t("icon")}</legend>
      <div className="flex max-h-24 flex-wrap gap-1 overflow-y-auto rounded-md border border-line p-1">
        {names.map((name) => (
          <label
            key={name}
            title={name || t("no_icon")}
            className={cx(
              "flex size-8 items-center justify-center rounded-md hover:bg-hover has-focus-visible:outline-2 has-focus-visible:outline-focus [&_svg]:size-4",
              name === value ? "bg-accent-soft text-accent" : "text-muted",
            )}
          >
            <input
              type="radio"
              name="icon"
              aria-label={name || t("no_icon")}
              checked={name === value}
              onChange={() => onChange(name)}
              className="sr-only"
            />
            {name ? <ComponentIcon name={name} /> : <span aria-hidden>–</span>}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
