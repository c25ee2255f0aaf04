import { useQuery } from "@tanstack/react-query";
import { ExternalLink } from "lucide-react";
import { meQuery } from "@/api/queries/me";
import { Callout, CopyButton, Field, Input } from "@/components/ui";
import { LocalModels } from "./LocalModels";
import { useProviderTexts } from "./texts";
import { type Provider, type ProviderSetting, wrongValue } from "./values";

interface SetupProps {
  provider: Provider;
  values: Readonly<Record<string, string>>;
  /** Whether mistakes are shown: once somebody tried to save. */
  tried: boolean;
  onChange: (variable: string, value: string) => void;
}

/** What one provider needs: a package, its key, its address. */
export function ProviderSetup({ provider, values, tried, onChange }: SetupProps) {
  const t = useProviderTexts();
  const me = useQuery(meQuery);
  if (!provider.installed) return <NotInstalled provider={provider} />;
  if (provider.id === "local") {
    return (
      <>
        <p className="text-sm text-muted">{t("local_more")}</p>
        <LocalModels label={t("local_title")} />
      </>
    );
  }
  if (me.data && !me.data.permissions.tenant.includes("variables.manage")) {
    return <Callout>{t("admin_only")}</Callout>;
  }
  return (
    <div className="flex flex-col gap-3">
      {provider.id === "ollama" && !provider.configured && <p className="text-sm text-muted">{t("ollama_more")}</p>}
      {provider.settings.map((setting) => (
        <SettingField
          key={setting.variable}
          setting={setting}
          value={values[setting.variable] ?? ""}
          tried={tried}
          onChange={(value) => onChange(setting.variable, value)}
        />
      ))}
      <a
        href={provider.docs}
        target="_blank"
        rel="noopener noreferrer"
        className="inline-flex items-center gap-1 self-start text-sm text-accent hover:underline"
      >
        {t("docs", { name: provider.label })}
        <ExternalLink aria-hidden className="size-3.5" />
      </a>
    </div>
  );
}

/** A provider whose package is missing on the server, and the command that installs it. */
export function NotInstalled({ provider }: { provider: Provider }) {
  const t = useProviderTexts();
  return (
    <Callout tone="warn" title={t("install_title", { name: provider.label })}>
      {t("install_more")}
      <Command text={provider.install} />
    </Callout>
  );
}

const NAMED = { OPENAI_ORG_ID: "organisation_id", WATSONX_PROJECT_ID: "project_id" } as const;

interface SettingProps {
  setting: ProviderSetting;
  value: string;
  tried: boolean;
  onChange: (value: string) => void;
}

function SettingField({ setting, value, tried, onChange }: SettingProps) {
  const t = useProviderTexts();
  const { variable: name, kind, required, is_set: kept } = setting;
  const wrong = tried ? wrongValue(setting, value) : null;
  const label = kind === "setting" ? (name in NAMED ? t(NAMED[name as keyof typeof NAMED]) : name) : t(kind);
  const help = {
    key: kept ? t("key_kept", { name }) : required ? t("key_help", { name }) : t("key_optional", { name }),
    address: setting.default ? t("address_default", { address: setting.default }) : t("address_help", { name }),
    setting: t("setting_help", { name }),
  }[kind];
  return (
    <Field
      label={label}
      help={help}
      required={required && !kept}
      error={wrong && t(wrong === "missing" ? "missing_value" : "bad_address")}
    >
      {(control) => (
        <Input
          {...control}
          type={kind === "key" ? "password" : "text"}
          inputMode={kind === "address" ? "url" : "text"}
          autoComplete="off"
          spellCheck={false}
          value={value}
          placeholder={setting.default ?? ""}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

function Command({ text }: { text: string }) {
  return (
    <div className="mt-2 flex items-center gap-2 rounded-md border border-line bg-surface py-1 pr-1 pl-2.5">
      <code className="min-w-0 flex-1 break-all font-mono text-xs text-ink">{text}</code>
      <CopyButton text={text} />
    </div>
  );
}
