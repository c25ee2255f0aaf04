import { api, unwrap } from "@/api/client";
import { download, fileNameOf, pngOf } from "@/lib/download";

/** What is taken out: the draft, a version, or a run with the version it had. */
export interface Exported {
  flowId: string;
  name: string;
  version?: number | undefined;
  runId?: string | undefined;
}

export type ExportKind = "json" | "spec" | "svg" | "png" | "report" | "evidence";

/** Fetch it and give it to the browser as a file. */
export async function exportAs(kind: ExportKind, what: Exported, language: "en" | "sv"): Promise<void> {
  const named = `${what.name}${what.version ? ` v${what.version}` : ""}`;
  const made = await contentOf(kind, what, language);
  download(fileNameOf(named, ENDINGS[kind]), made);
}

const ENDINGS: Record<ExportKind, string> = {
  json: "json",
  spec: "flow",
  svg: "svg",
  png: "png",
  report: "pdf",
  evidence: "evidence.json",
};

function contentOf(kind: ExportKind, what: Exported, language: "en" | "sv"): Promise<Blob> {
  if (kind === "json" || kind === "spec") return textOf(kind, what);
  if (kind === "evidence") return evidenceOf(what);
  if (kind === "report") return reportOf(what, language);
  return pictureOf(what, language, kind === "png");
}

async function textOf(format: "json" | "spec", { flowId, version }: Exported): Promise<Blob> {
  const query = { format, ...(version ? { version } : {}) };
  const params = { path: { flow_id: flowId }, query };
  const found = await unwrap(api.GET("/api/v1/flows/{flow_id}/export", { params }));
  return new Blob([found.content], { type: "text/plain;charset=utf-8" });
}

async function evidenceOf({ runId }: Exported): Promise<Blob> {
  const params = { path: { run_id: runId ?? "" } };
  const found = await unwrap(api.GET("/api/v1/flow-runs/{run_id}/evidence", { params, parseAs: "text" }));
  return new Blob([found as unknown as string], { type: "application/json" });
}

/** Which of the three: a run brings its version with it. */
const chosen = ({ version, runId }: Exported) => (runId ? { run_id: runId } : version ? { version } : {});

async function reportOf(what: Exported, language: "en" | "sv"): Promise<Blob> {
  const params = { path: { flow_id: what.flowId }, query: { ...chosen(what), language } };
  return (await unwrap(api.GET("/api/v1/flows/{flow_id}/report", { params, parseAs: "blob" }))) as Blob;
}

async function pictureOf(what: Exported, language: "en" | "sv", pixels: boolean): Promise<Blob> {
  const params = { path: { flow_id: what.flowId }, query: { ...chosen(what), language } };
  const svg = (await unwrap(
    api.GET("/api/v1/flows/{flow_id}/picture", { params, parseAs: "text" }),
  )) as unknown as string;
  return pixels ? pngOf(svg) : new Blob([svg], { type: "image/svg+xml" });
}
