import { queryOptions } from "@tanstack/react-query";
import { servedWords, type Translate } from "@/lib/i18n/served";
import { api, unwrap } from "../client";
import type { components } from "../schema";

type Component = components["schemas"]["ComponentOut"];

export const componentKeys = { all: ["components"] as const };

/** Every component's template: what it takes, what it gives, how it is shown. */
export const componentsQuery = queryOptions({
  queryKey: componentKeys.all,
  queryFn: async ({ signal }) => {
    const [found, translate] = await Promise.all([unwrap(api.GET("/api/v1/components", { signal })), servedWords()]);
    return found.map((one) => inLanguage(one, translate));
  },
  staleTime: 10 * 60_000,
});

/** A component that comes with the installation or a pack, in the reader's language; it is found by its English name too. */
export function inLanguage(component: Component, translate: Translate): Component {
  const { code, pack, label, keywords = [], fields = [], outputs = [] } = component;
  if (code && !pack) return component;
  const said = translate(label);
  return {
    ...component,
    label: said,
    description: translate(component.description),
    keywords: said === label ? keywords : [...keywords, label],
    fields: fields.map((one) => ({ ...one, label: translate(one.label ?? ""), help: translate(one.help ?? "") })),
    outputs: outputs.map((one) => ({ ...one, label: translate(one.label ?? ""), help: translate(one.help ?? "") })),
  };
}
