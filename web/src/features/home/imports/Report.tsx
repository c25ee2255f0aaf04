import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { componentsQuery } from "@/api/queries/components";
import type { components } from "@/api/schema";
import { FlowDrawing } from "@/components/flow-drawing/FlowDrawing";
import { Callout, Chip } from "@/components/ui";
import { byType } from "../sketch";
import { useHomeTexts } from "../texts";
import { ReportCode } from "./ReportCode";
import { Part } from "./ReportPart";

export type ImportReport = components["schemas"]["ImportReport"];
const MOST_DRAWN = 80;

/** What a file holds and what a run of it would use, as far as reading tells. All of it is text of somebody else's. */
export function Report({ report }: { report: ImportReport }) {
  const t = useHomeTexts();
  const refused = !report.supported && (
    <Callout tone="bad" title={t("import_refused")}>
      <p>{report.refused}</p>
      {report.remedy && <p className="mt-1 text-muted">{report.remedy}</p>}
      {!report.inspected && <p className="mt-1">{t("import_not_inspected")}</p>}
    </Callout>
  );
  if (!report.definition) return refused;
  const problems = report.problems ?? [];
  const moreProblems = report.omitted?.problems ?? 0;
  return (
    <div className="flex flex-col gap-4">
      {refused}
      <Picture report={report} />
      {report.description && <p className="text-muted">{report.description}</p>}
      {(report.unknown ?? []).length > 0 && (
        <Callout tone="warn" title={t("import_unknown")}>
          {report.unknown?.join(", ")}
        </Callout>
      )}
      <ReportCode codes={report.code ?? []} more={report.omitted?.code} />
      <Uses report={report} />
      {problems.length > 0 && (
        <Part title={t(report.supported ? "import_problems" : "import_faults")}>
          <ul className="flex flex-col gap-1.5">
            {problems.map((one, place) => (
              <li key={`${place} ${one.message}`} className="text-sm">
                {one.message} <span className="text-muted">{one.remedy}</span>
              </li>
            ))}
            {moreProblems > 0 && <li className="text-sm text-muted">{t("import_more", { count: moreProblems })}</li>}
          </ul>
        </Part>
      )}
    </div>
  );
}

function Picture({ report }: { report: ImportReport }) {
  const t = useHomeTexts();
  const { data } = useQuery(componentsQuery);
  const flow = report.definition;
  if (!flow?.nodes?.length || flow.nodes.length > MOST_DRAWN) return null;
  return (
    <div className="h-44 rounded-lg border border-line bg-sunken p-4">
      <FlowDrawing flow={flow} templates={byType(data)} title={t("picture_of", { name: report.name ?? "" })} />
    </div>
  );
}

/** Servers, credentials, models and tools, each with its purpose; in `brief` only what is used. */
export function Uses({ report, brief = false }: { report: ImportReport; brief?: boolean }) {
  const t = useHomeTexts();
  const hosts = report.hosts ?? [];
  const secrets = [...new Map((report.secrets ?? []).map((one) => [one.name, one])).values()];
  const models = report.models ?? [];
  const tools = report.tools ?? [];
  const servers = report.servers ?? [];
  const urls = report.urls ?? [];
  const triggers = report.triggers ?? [];
  return (
    <dl className="grid grid-cols-[minmax(7rem,auto)_1fr] gap-x-6 gap-y-3">
      <Use brief={brief} title={t("import_hosts")} none={hosts.length === 0} more={report.omitted?.hosts}>
        {hosts.map((one) => (
          <Chip key={`${one.host} ${one.purpose}`} tone="info" title={t(`purpose_${one.purpose}`)}>
            {one.host || t("import_host_unknown")} · {t(`purpose_${one.purpose}`)}
          </Chip>
        ))}
      </Use>
      <Use brief={brief} title={t("import_secrets")} none={secrets.length === 0} more={report.omitted?.secrets}>
        {secrets.map((one) => (
          <Chip key={one.name} tone={one.known ? "neutral" : "warn"}>
            {one.known ? one.name : `${one.name} · ${t("import_secret_missing")}`}
          </Chip>
        ))}
      </Use>
      <Use brief={brief} title={t("import_models")} none={models.length === 0} more={report.omitted?.models}>
        {models.map((one) => (
          <Chip key={one}>{one}</Chip>
        ))}
      </Use>
      <Use brief={brief} title={t("import_servers")} none={servers.length === 0} more={report.omitted?.servers}>
        {servers.map((one) => (
          <Chip key={one}>{one}</Chip>
        ))}
      </Use>
      <Use brief={brief} title={t("import_urls")} none={urls.length === 0} more={report.omitted?.urls}>
        {urls.map((one) => (
          <Chip key={one.url} title={one.node}>
            <span className="break-all">{one.url}</span>
          </Chip>
        ))}
      </Use>
      <Use brief={brief} title={t("import_triggers")} none={triggers.length === 0}>
        {triggers.map((one, place) => (
          <Chip key={`${place} ${one.name}`}>
            <span className="break-all">{[one.name, one.kind, one.url].filter(Boolean).join(" · ")}</span>
          </Chip>
        ))}
      </Use>
      <Use brief={brief} title={t("import_tools")} none={tools.length === 0} more={report.omitted?.tools}>
        {tools.map((one) => (
          <Chip key={one}>{one}</Chip>
        ))}
      </Use>
    </dl>
  );
}

function Use({
  title,
  brief,
  none,
  more = 0,
  children,
}: {
  title: string;
  brief: boolean;
  none: boolean;
  more?: number;
  children: ReactNode;
}) {
  const t = useHomeTexts();
  if (brief && none) return null;
  return (
    <>
      <dt className="text-sm text-muted">{title}</dt>
      <dd className="flex min-w-0 flex-wrap gap-1.5">
        {none ? <span className="text-sm text-muted">{t("import_none")}</span> : children}
        {more > 0 && <span className="text-sm text-muted">{t("import_more", { count: more })}</span>}
      </dd>
    </>
  );
}
