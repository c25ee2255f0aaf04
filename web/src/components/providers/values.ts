import type { components } from "@/api/schema";

export type Provider = components["schemas"]["ProviderStatus"];
export type ProviderSetting = components["schemas"]["ProviderSetting"];
export type Connection = components["schemas"]["ConnectionOut"];

/** What is wrong with a value before it is sent; nothing where it may go, also a blank one that is set already. */
export function wrongValue(setting: ProviderSetting, value: string): "missing" | "address" | null {
  const text = value.trim();
  if (!text) return setting.required && !setting.is_set ? "missing" : null;
  if (setting.kind === "address" && !/^https?:\/\/\S+$/i.test(text)) return "address";
  return null;
}

/** The variables to write: what was typed, an empty field keeps what is there. */
export function toWrite(settings: readonly ProviderSetting[], values: Readonly<Record<string, string>>) {
  return settings.flatMap(({ variable, kind }) => {
    const value = values[variable]?.trim();
    return value ? [{ name: variable, body: { value, secret: kind === "key", hosts: [] } }] : [];
  });
}

/** Its name: a brand as it is, a description in the language of the page. */
export function providerName(
  t: (key: "name_local" | "name_openai_compatible") => string,
  { id, label }: Provider,
): string {
  return id === "local" || id === "openai_compatible" ? t(`name_${id}`) : label;
}

/** Whether it takes an API key of an account; others are servers, or run here. */
export const takesKey = ({ settings }: Provider) => settings.some(({ kind, required }) => kind === "key" && required);

/** Ready ones first, then those that only want a key, then those that want a package. */
export function inOrder(providers: readonly Provider[]): Provider[] {
  const rank = (one: Provider) => (one.configured ? 0 : one.installed ? 1 : 2);
  // Servers with a name of their own are set up where they were added.
  return providers.filter(({ server }) => !server).sort((a, b) => rank(a) - rank(b));
}
