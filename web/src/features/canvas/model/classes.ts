import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { graphQuery } from "@/api/queries/graph";
import { useDraft } from "@/lib/draft";
import { useView } from "./view";

/** Flows larger than this are not asked for again at every save. */
const MOST_NODES = 400;

/** Keep the classes that the server reckons from the saved draft beside the canvas. */
export function useClasses(): void {
  const flowId = useDraft((state) => state.flowId);
  const revision = useDraft((state) => state.revision);
  const small = useDraft((state) => state.document.order.length <= MOST_NODES);
  const { data } = useQuery({ ...graphQuery(flowId, revision), enabled: small });
  useEffect(() => {
    if (!data) return;
    const classes: Record<string, number> = {};
    for (const node of data.nodes) if (node.classification) classes[node.id] = node.classification.level;
    useView.getState().set({ classes });
  }, [data]);
  useEffect(() => () => useView.getState().set({ classes: {} }), []);
}

/** The class of what leaves a node; null where it is not known. */
export function useNodeClass(id: string): number | null {
  const own = useDraft((state) => state.document.nodes[id]?.policy?.output_classification_override ?? null);
  const reckoned = useView((state) => state.classes[id] ?? null);
  return own ?? reckoned;
}
