import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { componentsQuery } from "@/api/queries/components";
import type { components } from "@/api/schema";
import { FlowDrawing } from "@/components/flow-drawing/FlowDrawing";
import { Chip } from "@/components/ui";
import { byType } from "../sketch";
import { useHomeTexts } from "../texts";

/** Whether a template runs on its sample data without anything else. */
export const runsAsItIs = (template: components["schemas"]["TemplateSummary"]) =>
  !template.needs_model && !template.needs_network && template.needs_connections.length === 0;

/** What a template needs before it runs; with sample data, most need nothing. */
export function Needs({ template }: { template: components["schemas"]["TemplateSummary"] }) {
  const t = useHomeTexts();
  return (
    <>
      {runsAsItIs(template) && <Chip tone="ok">{t("as_it_is")}</Chip>}
      {template.needs_model && <Chip tone="info">{t("needs_a_model")}</Chip>}
      {template.needs_network && <Chip>{t("needs_the_network")}</Chip>}
      {template.needs_connections.map(({ name }) => (
        <Chip key={name}>{t("needs_the_connection", { name })}</Chip>
      ))}
      {template.needs_flows.map((name) => (
        <Chip key={name}>{t("needs_the_flow", { name })}</Chip>
      ))}
      {template.triggers.map((name) => (
        <Chip key={name}>{t("has_trigger", { name })}</Chip>
      ))}
    </>
  );
}

/** A ready-made flow: its picture and what it does. */
export function TemplateCard({
  template,
  onOpen,
}: {
  template: components["schemas"]["TemplateSummary"];
  onOpen: () => void;
}) {
  const t = useHomeTexts();
  const { data } = useQuery(componentsQuery);
  const types = useMemo(() => byType(data), [data]);
  return (
    <li className="group relative flex flex-col rounded-lg border border-line bg-surface shadow-low transition-shadow duration-150 hover:border-line-strong hover:shadow-card">
      <div className="pointer-events-none h-32 overflow-hidden rounded-t-lg border-b border-line bg-sunken p-3">
        <FlowDrawing
          compact
          flow={template.definition}
          templates={types}
          title={t("picture_of", { name: template.title })}
        />
      </div>
      <div className="flex flex-1 flex-col gap-1.5 p-3">
        <h2 className="font-semibold">
          <button
            type="button"
            onClick={onOpen}
            className="text-left after:absolute after:inset-0 after:rounded-lg focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:outline-focus"
            aria-label={t("look", { name: template.title })}
          >
            {template.title}
          </button>
        </h2>
        <p className="line-clamp-2 text-sm text-muted">{template.description}</p>
        <div className="mt-auto flex flex-wrap gap-1 pt-1">
          <Needs template={template} />
          <Chip>{t(`category_${template.category}`)}</Chip>
        </div>
      </div>
    </li>
  );
}
