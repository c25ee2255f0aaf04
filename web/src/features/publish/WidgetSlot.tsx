import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { versionQuery } from "@/api/queries/versions";
import { CopyButton, Field, Input, Segments, Switch, Textarea } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { usePublishTexts } from "./texts";
import { isColor, originsOf, type Widget, widgetOf, withWidget } from "./widget";

/** The widget for other pages: how it is offered, the line that puts it there, and what visitors see now. */
export function WidgetSlot() {
  const t = usePublishTexts();
  const flowId = useDraft((state) => state.flowId);
  const line = `<script src="${window.location.origin}/widget.js" data-flow="${flowId}" async></script>`;
  return (
    <div className="grid gap-6 p-4 lg:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-4">
        <p className="text-sm text-muted">{t("widget_about")}</p>
        <WidgetForm />
        <div className="relative">
          <pre className="overflow-x-auto whitespace-pre-wrap break-all rounded-md bg-sunken p-3 pr-12 font-mono text-xs">
            <code>{line}</code>
          </pre>
          <span className="absolute top-1.5 right-1.5 rounded-md bg-raised">
            <CopyButton text={line} label={t("copy_snippet", { name: t("widget") })} />
          </span>
        </div>
      </div>
      <Preview />
    </div>
  );
}

function WidgetForm() {
  const t = usePublishTexts();
  const store = useDraftStore();
  const editable = useDraft((state) => state.editable);
  const widget = widgetOf(useDraft((state) => state.document.settings));
  const [origins, setOrigins] = useState(() => widget.origins.join("\n"));
  const change = (part: Partial<Widget>) => {
    const { document, setSettings } = store.getState();
    setSettings({ widget: withWidget(document.settings, part) });
  };
  return (
    <fieldset disabled={!editable} className="flex flex-col gap-3">
      <div className="flex items-center gap-2.5">
        <Switch
          aria-label={t("widget_on")}
          disabled={!editable}
          checked={widget.enabled}
          onChange={(enabled) => change({ enabled })}
        />
        <span className="font-medium">{t("widget_on")}</span>
      </div>
      {widget.enabled && (
        <>
          <Segments
            aria-label={t("widget_kind")}
            value={widget.kind}
            options={[
              { value: "form", label: t("widget_form") },
              { value: "chat", label: t("widget_chat") },
            ]}
            onChange={(kind) => change({ kind })}
          />
          <div className="grid gap-3 sm:grid-cols-2">
            <Field label={t("widget_title")}>
              {(control) => (
                <Input
                  {...control}
                  maxLength={120}
                  value={widget.title}
                  onChange={(event) => change({ title: event.target.value })}
                />
              )}
            </Field>
            <Field label={t("widget_color")} error={isColor(widget.color) ? null : t("widget_bad_color")}>
              {(control) => (
                <Input {...control} value={widget.color} onChange={(event) => change({ color: event.target.value })} />
              )}
            </Field>
          </div>
          <Field label={t("widget_origins")} help={t("widget_origins_help")}>
            {(control) => (
              <Textarea
                {...control}
                rows={2}
                value={origins}
                onChange={(event) => setOrigins(event.target.value)}
                onBlur={() => change({ origins: originsOf(origins) })}
              />
            )}
          </Field>
        </>
      )}
    </fieldset>
  );
}

/** The frame that visitors get, of the published version. */
function Preview() {
  const t = usePublishTexts();
  const flowId = useDraft((state) => state.flowId);
  const published = useDraft((state) => state.publishedVersion);
  const { data } = useQuery({ ...versionQuery(flowId, published ?? 0), enabled: published !== null });
  if (!widgetOf(data?.definition.settings).enabled) {
    return (
      <p className="flex min-h-60 items-center justify-center rounded-md border border-line border-dashed p-6 text-center text-sm text-muted">
        {t("widget_not_yet")}
      </p>
    );
  }
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <iframe
        key={published}
        title={t("widget_preview")}
        src={`/w/${flowId}`}
        sandbox="allow-scripts allow-forms"
        className="h-96 w-full rounded-md border border-line"
      />
      <p className="text-xs text-muted">{t("widget_preview_help")}</p>
    </div>
  );
}
