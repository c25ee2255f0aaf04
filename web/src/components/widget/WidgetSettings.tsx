import { ExternalLink } from "lucide-react";
import { useMemo, useState } from "react";
import { Callout, CopyButton, Field, Input, Segments, Select, Switch, Textarea } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { configOf, originsOf, questionsOf, snippetOf, type WidgetConfig } from "./config";
import { useWidgetTexts } from "./texts";
import { WidgetPreview } from "./WidgetPreview";

/** How a flow is offered on outside pages: its settings, a live preview, and the line for the page. */
export function WidgetSettings({ flowId }: { flowId: string }) {
  const t = useWidgetTexts();
  const widget = useDraft((state) => state.document.settings.widget) as Record<string, unknown> | undefined;
  const form = useDraft((state) => state.document.form);
  const name = useDraft((state) => state.document.name);
  const editable = useDraft((state) => state.editable);
  const setSettings = useDraft((state) => state.setSettings);
  const config = useMemo(() => configOf(widget), [widget]);
  const set = (change: Partial<WidgetConfig>) => setSettings({ widget: { ...config, ...change } as never });
  return (
    <div className="grid gap-6 p-4 lg:grid-cols-2">
      <fieldset disabled={!editable} className="flex min-w-0 flex-col gap-4">
        <p className="text-sm text-muted">{t("about")}</p>
        <Field label={t("enabled")} help={t("enabled_help")}>
          {(control) => <Switch {...control} checked={config.enabled} onChange={(enabled) => set({ enabled })} />}
        </Field>
        <Looks config={config} set={set} />
        <Questions config={config} set={set} />
        <Origins config={config} set={set} />
        <Lines flowId={flowId} config={config} />
      </fieldset>
      <div className="flex min-w-0 flex-col gap-2">
        <span className="text-sm font-medium">{t("preview")}</span>
        <WidgetPreview config={config} form={form} name={name} label={t("preview")} />
      </div>
    </div>
  );
}

interface PartProps {
  config: WidgetConfig;
  set: (change: Partial<WidgetConfig>) => void;
}

function Looks({ config, set }: PartProps) {
  const t = useWidgetTexts();
  return (
    <>
      <div className="flex flex-wrap items-end gap-4">
        <Field label={t("kind")}>
          {() => (
            <Segments
              aria-label={t("kind")}
              value={config.kind}
              options={[
                { value: "form", label: t("form") },
                { value: "chat", label: t("chat") },
              ]}
              onChange={(kind) => set({ kind })}
            />
          )}
        </Field>
        <Field label={t("color")}>
          {(control) => (
            <input
              {...control}
              type="color"
              value={config.color}
              onChange={(event) => set({ color: event.target.value })}
              className="h-8 w-14 rounded-md border border-line-strong bg-surface p-0.5"
            />
          )}
        </Field>
        <Field label={t("theme")}>
          {(control) => (
            <Select
              {...control}
              className="w-52"
              value={config.theme}
              options={(["auto", "light", "dark"] as const).map((value) => ({ value, label: t(`theme_${value}`) }))}
              onChange={(theme) => set({ theme })}
            />
          )}
        </Field>
      </div>
      <Field label={t("title")} help={t("title_help")}>
        {(control) => (
          <Input
            {...control}
            maxLength={120}
            value={config.title}
            onChange={(event) => set({ title: event.target.value })}
          />
        )}
      </Field>
      <Field label={t("welcome")}>
        {(control) => (
          <Textarea
            {...control}
            maxLength={2000}
            value={config.welcome_text}
            onChange={(event) => set({ welcome_text: event.target.value })}
          />
        )}
      </Field>
    </>
  );
}

function Questions({ config, set }: PartProps) {
  const t = useWidgetTexts();
  const [lines, setLines] = useState(config.questions.join("\n"));
  return (
    <Field label={t("questions")} help={t("questions_help")}>
      {(control) => (
        <Textarea
          {...control}
          value={lines}
          onChange={(event) => {
            setLines(event.target.value);
            set({ questions: questionsOf(event.target.value) });
          }}
        />
      )}
    </Field>
  );
}

function Origins({ config, set }: PartProps) {
  const t = useWidgetTexts();
  const [lines, setLines] = useState(config.origins.join("\n"));
  const { wrong } = originsOf(lines);
  return (
    <Field
      label={t("origins")}
      help={t("origins_help")}
      error={wrong ? t("origin_wrong", { origin: wrong }) : undefined}
    >
      {(control) => (
        <Textarea
          {...control}
          className="font-mono text-sm"
          value={lines}
          onChange={(event) => {
            setLines(event.target.value);
            set({ origins: originsOf(event.target.value).origins });
          }}
        />
      )}
    </Field>
  );
}

function Lines({ flowId, config }: { flowId: string; config: WidgetConfig }) {
  const t = useWidgetTexts();
  const published = useDraft((state) => state.publishedVersion);
  const origin = window.location.origin;
  if (!config.enabled) return null;
  return (
    <div className="flex flex-col gap-3">
      {published === null && <Callout>{t("publish_first")}</Callout>}
      <Line label={t("snippet")} text={snippetOf(origin, flowId, config, false)} />
      <Line label={t("snippet_corner")} text={snippetOf(origin, flowId, config, true)} />
      <a
        href={`/w/${flowId}`}
        target="_blank"
        rel="noopener noreferrer"
        className="inline-flex items-center gap-1.5 self-start text-sm font-medium text-accent hover:underline"
      >
        <ExternalLink aria-hidden className="size-4" />
        {t("open")}
      </a>
    </div>
  );
}

function Line({ label, text }: { label: string; text: string }) {
  const t = useWidgetTexts();
  return (
    <div>
      <span className="text-sm font-medium">{label}</span>
      <div className="relative mt-1">
        <pre className="overflow-x-auto whitespace-pre-wrap break-all rounded-md bg-sunken p-3 pr-12 font-mono text-xs">
          <code>{text}</code>
        </pre>
        <span className="absolute top-1.5 right-1.5 rounded-md bg-raised">
          <CopyButton text={text} label={t("copy")} />
        </span>
      </div>
    </div>
  );
}
