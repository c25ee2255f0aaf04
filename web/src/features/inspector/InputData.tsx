import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { stepQuery } from "@/api/queries/runs";
import { insertInto } from "@/components/fields";
import { Input, toast, useCopy } from "@/components/ui";
import { PathTree } from "@/components/values/PathTree";
import { matching, pathRows } from "@/components/values/paths";
import { useDraft, useDraftParts } from "@/lib/draft";
import { nodeName } from "@/lib/nodeName";
import { configures, mainOutput, nodeTemplate, outputType } from "@/lib/wiring";
import { useInspectorTexts } from "./texts";

/** What reached the node in the run that is shown: searched, copied, and put into its fields as references. */
export function InputData({ nodeId }: { nodeId: string }) {
  const t = useInspectorTexts();
  const copy = useCopy();
  const [words, setWords] = useState("");
  const run = useDraft((state) => state.shownRun?.id ?? "");
  const editable = useDraft((state) => state.editable);
  const { keys, names } = useSources(nodeId);
  const sources = keys.map((key) => key.split(" ") as [string, string, string]);
  const steps = useQueries({
    queries: sources.map(([id]) => ({ ...stepQuery(run, id, "completed"), enabled: run !== "", retry: false })),
  });
  const rows = sources.flatMap(([id, output, path], at) => {
    const outputs = (steps[at]?.data?.output?.outputs ?? {}) as Record<string, unknown>;
    return output in outputs ? pathRows(`${id}.${path}`, names[at] ?? id, outputs[output]) : [];
  });
  if (rows.length === 0) return null;
  const shown = matching(rows, words);
  const insert = (path: string) => {
    if (insertInto(nodeId, path)) return;
    copy(`{{${path}}}`, () => toast({ title: t("reference_copied"), detail: t("reference_copied_more") }));
  };
  return (
    <section aria-label={t("input_data")} className="flex flex-col gap-2 rounded-md border border-line bg-sunken p-2.5">
      <div className="flex items-center gap-2">
        <h4 className="shrink-0 font-medium text-sm">{t("input_data")}</h4>
        <Input
          type="search"
          aria-label={t("search_data")}
          placeholder={t("search_data")}
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
      </div>
      {shown.length === 0 ? (
        <p className="text-muted text-sm">{t("no_match")}</p>
      ) : (
        <PathTree rows={shown} label={t("input_data")} {...(editable ? { onInsert: insert } : {})} />
      )}
      {editable && <p className="text-muted text-xs">{t("input_data_more")}</p>}
    </section>
  );
}

/** The outputs that lead here and were given in the run that is shown: node, output and its name in a reference. */
function useSources(nodeId: string) {
  const keys = useDraftParts(({ document, templates, nodeRuns }) => [
    ...new Set(
      Object.values(document.edges).flatMap((edge) => {
        const node = document.nodes[edge.source];
        if (edge.target !== nodeId || !node || nodeRuns[edge.source]?.status !== "completed") return [];
        const template = nodeTemplate(node, templates);
        if (configures(outputType(template, edge.output))) return [];
        return [`${edge.source} ${edge.output} ${mainOutput(template)?.name === edge.output ? "output" : edge.output}`];
      }),
    ),
  ]);
  const names = useDraftParts(({ document, templates }) =>
    keys.map((key) => {
      const node = document.nodes[key.split(" ")[0] ?? ""];
      return node ? nodeName(node, templates) : key;
    }),
  );
  return { keys, names };
}
