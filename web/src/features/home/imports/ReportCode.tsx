import { ShieldAlert, ShieldCheck } from "lucide-react";
import type { components } from "@/api/schema";
import { CodeEditor } from "@/components/code/CodeEditor";
import { Chip } from "@/components/ui";
import { useHomeTexts } from "../texts";
import { Part } from "./ReportPart";

/** The code in a file: to be read before it is let in. */
export function ReportCode({ codes, more = 0 }: { codes: components["schemas"]["ImportedCode"][]; more?: number }) {
  const t = useHomeTexts();
  if (codes.length === 0) return null;
  return (
    <Part title={t("import_copied_code")}>
      <ul className="flex flex-col gap-3">
        {codes.map((code) => (
          <li key={`${code.type} ${code.nodes.join(" ")}`}>
            <details className="rounded-lg border border-line">
              <summary className="flex flex-wrap items-center gap-2 px-3 py-2">
                <span className="font-medium">{t("import_code_from", { type: code.type, count: code.lines })}</span>
                <Chip tone={code.known ? "ok" : "warn"} icon={code.known ? <ShieldCheck /> : <ShieldAlert />}>
                  {t(code.known ? "import_code_known" : "import_code_unknown")}
                </Chip>
                {code.files && <Chip>{t("import_file")}</Chip>}
                {code.hosts.map((host) => (
                  <Chip key={host} tone="info">
                    {host}
                  </Chip>
                ))}
              </summary>
              <div className="border-t border-line">
                <CodeEditor value={code.source} language="python" readOnly label={code.type} maxLines={18} />
              </div>
            </details>
            {code.imports.length > 0 && (
              <p className="mt-1 text-xs text-muted">{t("import_code_imports", { names: code.imports.join(", ") })}</p>
            )}
            {code.findings.map((finding) => (
              <p key={finding.message} className="mt-1 text-sm text-bad">
                {finding.message} <span className="text-muted">{finding.remedy}</span>
              </p>
            ))}
            {(code.omitted?.findings ?? 0) > 0 && (
              <p className="mt-1 text-sm text-muted">{t("import_more", { count: code.omitted?.findings ?? 0 })}</p>
            )}
          </li>
        ))}
        {more > 0 && <li className="text-sm text-muted">{t("import_more", { count: more })}</li>}
      </ul>
    </Part>
  );
}
