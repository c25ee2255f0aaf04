import { useMutation } from "@tanstack/react-query";
import { ShieldCheck } from "lucide-react";
import { api, unwrap } from "@/api/client";
import type { components } from "@/api/schema";
import { Button, Callout, Problem } from "@/components/ui";
import { useDraftStore } from "@/lib/draft";
import { useInspectorTexts } from "./texts";

type Checked = components["schemas"]["ComponentCheckOut"];

export interface CodeFinding {
  message: string;
  remedy: string;
  line: number;
}

/** What a check found, as the editor marks it. */
export function findingsOf(checked: Checked | undefined): CodeFinding[] {
  return (checked?.findings ?? []).map((one) => ({
    message: String(one.message ?? ""),
    remedy: String(one.remedy ?? ""),
    line: Number(one.line ?? 1),
  }));
}

interface CodeCheckProps {
  nodeId: string;
  code: string;
  onChecked?: (checked: Checked) => void;
}

/** Check a node's code in the sandbox: what is wrong with it, else what it uses and gives. */
export function CodeCheck({ nodeId, code, onChecked }: CodeCheckProps) {
  const t = useInspectorTexts();
  const store = useDraftStore();
  const check = useMutation({
    mutationFn: () => unwrap(api.POST("/api/v1/components/check", { body: { code } })),
    onSuccess: (checked) => {
      if (checked.template) taken(store, nodeId, checked);
      onChecked?.(checked);
    },
  });
  const { data } = check;
  return (
    <div className="flex flex-col gap-3">
      <Button icon={<ShieldCheck />} busy={check.isPending} className="self-start" onClick={() => check.mutate()}>
        {t("check")}
      </Button>
      {check.isError && <Problem error={check.error} />}
      {data && !data.ok && (
        <Callout tone="bad" title={t("check_bad")}>
          <ul className="flex flex-col gap-1">
            {findingsOf(data).map((one) => (
              <li key={`${one.line} ${one.message}`}>
                <span className="font-mono text-xs">{one.line}</span> {one.message}
                {one.remedy && <span className="text-muted"> {one.remedy}</span>}
              </li>
            ))}
          </ul>
        </Callout>
      )}
      {data?.ok && (
        <Callout tone="ok" title={t("check_ok", { type: data.type ?? "" })}>
          <Uses checked={data} />
        </Callout>
      )}
    </div>
  );
}

function Uses({ checked }: { checked: Checked }) {
  const t = useInspectorTexts();
  const { manifest, template } = checked;
  const outputs = (template?.outputs ?? []).map((one) => one.label || one.name).join(", ");
  return (
    <ul className="flex flex-col gap-0.5">
      {manifest && manifest.imports.length > 0 && <li>{t("imports", { names: manifest.imports.join(", ") })}</li>}
      {manifest && (
        <li>{manifest.hosts.length > 0 ? t("hosts", { names: manifest.hosts.join(", ") }) : t("no_hosts")}</li>
      )}
      {manifest?.files && <li>{t("files")}</li>}
      {outputs && <li>{t("outputs", { names: outputs })}</li>}
      {checked.note && <li>{checked.note}</li>}
    </ul>
  );
}

/** The flow knows the component from now on; a class of another name gives the node its type. */
function taken(store: ReturnType<typeof useDraftStore>, nodeId: string, { template, type }: Checked): void {
  const { templates, setTemplates, change, document } = store.getState();
  if (!template) return;
  setTemplates([...Object.values(templates).filter((one) => one.type !== template.type), template]);
  const now = document.nodes[nodeId]?.type;
  if (!type || !now || now === type) return;
  change({ label: `Rename to ${type}` }, (draft) => {
    for (const node of Object.values(draft.nodes)) {
      if (node.type === now && node.code) node.type = type;
    }
  });
}
