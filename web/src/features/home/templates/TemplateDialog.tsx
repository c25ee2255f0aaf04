import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { componentsQuery } from "@/api/queries/components";
import { importReport, templateKeys, templateQuery } from "@/api/queries/templates";
import { useRights } from "@/api/rights";
import type { components } from "@/api/schema";
import { FlowDrawing } from "@/components/flow-drawing/FlowDrawing";
import { Button, Dialog, Problem, Skeleton } from "@/components/ui";
import { useCreateFlow } from "../create/useCreateFlow";
import { Uses } from "../imports/Report";
import { Part } from "../imports/ReportPart";
import { byType } from "../sketch";
import { useHomeTexts } from "../texts";
import { NamedConnections } from "./NamedConnections";
import { SampleData } from "./SampleData";

/** What a template names that is not in its steps. */
const named = (template: components["schemas"]["TemplateOut"] | undefined) => ({
  asksModel: template?.needs_model ?? false,
  flows: template?.needs_flows ?? [],
  triggers: template?.triggers ?? [],
  connections: template?.needs_connections ?? [],
});

/** A ready-made flow in full: its picture, its steps, what it needs. */
export function TemplateDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const t = useHomeTexts();
  const make = useCreateFlow(undefined);
  const { may } = useRights();
  const whole = useQuery(templateQuery(id));
  const spec = whole.data?.spec;
  const needs = useQuery({
    queryKey: templateKeys.needs(id),
    queryFn: () => importReport(spec ?? ""),
    enabled: spec !== undefined,
    staleTime: 60_000,
  });
  const { data } = useQuery(componentsQuery);
  const types = useMemo(() => byType(data), [data]);
  const report = needs.data;
  const { asksModel, flows, triggers, connections } = named(whole.data);
  const needsNothing =
    report &&
    !asksModel &&
    flows.length + triggers.length + connections.length === 0 &&
    !report.hosts?.length &&
    !report.secrets?.length &&
    !report.models?.length;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={whole.data?.title ?? <Skeleton className="h-6 w-48" />}
      description={whole.data?.description}
      size="lg"
      footer={
        <Button
          kind="primary"
          busy={make.busy}
          disabled={!whole.data || !may("flows.edit")}
          onClick={() => whole.data && make.template(whole.data)}
        >
          {t("use")}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        {whole.isError && <Problem error={whole.error} />}
        <div className="h-64 rounded-lg border border-line bg-sunken p-5">
          {whole.data && (
            <FlowDrawing
              flow={whole.data.definition}
              templates={types}
              title={t("picture_of", { name: whole.data.title })}
            />
          )}
        </div>
        <Part title={t("needs")}>
          {needs.isPending && <Skeleton className="h-20" />}
          {needs.isError && <Problem error={needs.error} />}
          {needsNothing && <p>{t("needs_nothing")}</p>}
          {report && !needsNothing && (
            <div className="flex flex-col gap-3">
              {asksModel && !report.models?.length && <p>{t("needs_model")}</p>}
              <NamedConnections needed={connections} />
              {flows.map((name) => (
                <p key={name}>{t(may("flows.publish") ? "brings_flow" : "needs_flow", { name })}</p>
              ))}
              {triggers.map((name) => (
                <p key={name}>{t("brings_trigger", { name })}</p>
              ))}
              <Uses brief report={report} />
            </div>
          )}
        </Part>
        {whole.data && <SampleData sample={whole.data.sample} />}
        {whole.data && whole.data.examples.length > 0 && (
          <Part title={t("examples")}>
            <ul className="list-inside list-disc text-muted">
              {whole.data.examples.slice(0, 4).map((one) => (
                <li key={one}>{one}</li>
              ))}
            </ul>
          </Part>
        )}
      </div>
    </Dialog>
  );
}
