import { useQueryClient } from "@tanstack/react-query";
import { useCallback } from "react";
import { versionQuery } from "@/api/queries/versions";
import { toast, toastError } from "@/components/ui";
import { useDraftStore } from "@/lib/draft";
import { usePublishTexts } from "./texts";

/** Puts a version's content into the draft, at once, with a way back. */
export function useRestore(): (version: number) => Promise<void> {
  const t = usePublishTexts();
  const store = useDraftStore();
  const client = useQueryClient();
  return useCallback(
    async (version) => {
      try {
        const { definition } = await client.ensureQueryData(versionQuery(store.getState().flowId, version));
        const nodes = (definition.nodes ?? []).map((node) => ({ ...node, linked: {} }));
        const replaced = store.getState().document.order.length;
        const label = t("restore_label", { version });
        store.getState().replaceFlow({ ...definition, nodes }, { label });
        toast({
          title: t("restored", { version }),
          detail: t("restored_more", { count: replaced }),
          tone: "ok",
          action: { label: t("undo"), onClick: () => void store.getState().undo() },
        });
      } catch (error) {
        toastError(t("failed_restore", { version }), error);
      }
    },
    [t, store, client],
  );
}
