import { useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { stepQuery } from "@/api/queries/runs";
import { insertInto, useExpected } from "@/components/fields";
import { Input, toast, useCopy } from "@/components/ui";
import { PathTree } from "@/components/values/PathTree";
import { expectedRows, matching, pathRows } from "@/components/values/paths";
import { useDraft, useDraftParts } from "@/lib/draft";
import { nodeName } from "@/lib/nodeName";
import { configures, mainOutput, nodeTemplate, outputType } from "@/lib/wiring";
import { useInspectorTexts } from "./texts";

/** What reached the node in the run that is shown, else what is known of it: searched, and put into fields as references. */
export function InputData({ nodeId }: { nodeId: string }) {
  const t = useInspectorTexts();
  const copy = useCopy();
  const [words, setWords] = useState("");
  const run = useDraft((state) => state.shownRun?.id ?? "");
  const editable = useDraft((state) => state.editable);
  const { keys, names } = useSources(nodeId);
  const sources = keys.map((key) => key.split(" ") as [string, string, string, string]);
  const steps = useQueries({
    queries: sources.map(([id, , , ran]) => ({
      ...stepQuery(run, id, "completed"),
      enabled: run !== "" && ran === "ran",
      retry: false,
    })),
  });
  const expected = useExpected();
  const rows = sources.flatMap(([id, output, path], at) => {
    const outputs = (steps[at]?.data?.output?.outputs ?? {}) as Record<string, unknown>;
    const name = names[at] ?? id;
    if (output in outputs) return pathRows(`${id}.${path}`, name, outputs[output]);
    const schema = path === "output" ? expected[id] : undefined;
    return schema ? expectedRows(`${id}.${path}`, name, schema) : [];
  });
  const given = rows.some((row) => row.value !== undefined);
  if (rows.length === 0) return null;
  const title = t(given ? "input_data" : "expected_data");
  const shown = matching(rows, words);
  const insert = (path: string) => {
    if (insertInto(nodeId, path)) return;
    copy(`{{${path}}}`, () => toast({ title: t("reference_copied"), detail: t("reference_copied_more") }));
  };
  return (
    <section aria-label={title} className="flex flex-col gap-2 rounded-md border border-line bg-sunken p-2.5">
      <div className="flex items-center gap-2">
        <h4 className="shrink-0 font-medium text-sm">{title}</h4>
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
        <PathTree rows={shown} label={title} {...(editable ? { onInsert: insert } : {})} />
      )}
      {editable && <p className="text-muted text-xs">{t(given ? "input_data_more" : "expected_data_more")}</p>}
    </section>
  );
}

/** The outputs that lead here: node, output, its name in a reference, and whether the run that is shown gave it. */
function useSources(nodeId: string) {
  const keys = useDraftParts(({ document, templates, nodeRuns }) => [
    ...new Set(
      Object.values(document.edges).flatMap((edge) => {
        const node = document.nodes[edge.source];
        if (edge.target !== nodeId || !node) return [];
        const ran = nodeRuns[edge.source]?.status === "completed" ? "ran" : "waits";
        const template = nodeTemplate(node, templates);
        if (configures(outputType(template, edge.output))) return [];
        const path = mainOutput(template)?.name === edge.output ? "output" : edge.output;
        return [`${edge.source} ${edge.output} ${path} ${ran}`];
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
