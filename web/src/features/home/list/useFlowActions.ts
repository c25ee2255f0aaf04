import { type InfiniteData, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { api, unwrap } from "@/api/client";
import type { FlowItem } from "@/api/queries/flowList";
import { flowKeys } from "@/api/queries/flows";
import { toast, toastError } from "@/components/ui";
import { forgetFlow } from "@/lib/commands/recent";
import { copyText } from "@/lib/copyText";
import { download, fileNameOf, textFile } from "@/lib/download";
import { useHomeTexts } from "../texts";

interface ListPage {
  items: FlowItem[];
}

/** What people do with flows in the list. Each tells of its failure itself and answers whether it was done. */
export function useFlowActions() {
  const t = useHomeTexts();
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMemo(() => {
    const again = () => client.invalidateQueries({ queryKey: flowKeys.lists });
    const path = (flow_id: string) => ({ params: { path: { flow_id } } });
    const restore = async (item: FlowItem) => {
      try {
        await unwrap(api.POST("/api/v1/flows/{flow_id}/restore", path(item.id)));
        await again();
        toast({ title: t("restored", { name: item.name }), tone: "ok" });
      } catch (error) {
        toastError(t("failed_restore"), error);
      }
    };
    return {
      open: (flowId: string) => void navigate({ to: "/flows/$flowId", params: { flowId } }),
      chat: (flowId: string) => void navigate({ to: "/chat/$flowId/{-$conversationId}", params: { flowId } }),
      copyChat: (flowId: string) =>
        void copyText(`${window.location.origin}/chat/${flowId}`).then(
          () => toast({ title: t("chat_copied"), tone: "ok" }),
          (error: unknown) => toastError(t("copy_chat"), error),
        ),
      develop: (flowId: string) => void navigate({ to: "/develop/new", search: { flow: flowId } }),
      async remove(item: FlowItem) {
        // Taken out at once; what the server says comes after.
        client.setQueriesData<InfiniteData<ListPage>>({ queryKey: flowKeys.pages }, (data) => without(data, item.id));
        try {
          await unwrap(api.DELETE("/api/v1/flows/{flow_id}", path(item.id)));
          client.removeQueries({ queryKey: flowKeys.one(item.id) });
          forgetFlow(item.id);
          toast({
            title: t("deleted", { name: item.name }),
            action: { label: t("undo"), onClick: () => void restore(item) },
          });
        } catch (error) {
          toastError(t("failed_delete"), error);
        }
        await again();
      },
      async rename(flowId: string, name: string, description: string) {
        try {
          await unwrap(api.PATCH("/api/v1/flows/{flow_id}", { ...path(flowId), body: { name, description } }));
          client.removeQueries({ queryKey: flowKeys.one(flowId) });
          await again();
          return true;
        } catch (error) {
          toastError(t("failed_rename"), error);
          return false;
        }
      },
      async duplicate(item: FlowItem, spaceId = item.space_id) {
        try {
          const whole = await unwrap(api.GET("/api/v1/flows/{flow_id}", path(item.id)));
          const name = (spaceId === item.space_id ? t("copy_name", { name: item.name }) : item.name).slice(0, 200);
          const definition = whole.definition;
          const made = await unwrap(api.POST("/api/v1/flows", { body: { name, space_id: spaceId, definition } }));
          await again();
          toast({
            title: t("copied_flow", { name }),
            action: {
              label: t("open"),
              onClick: () => void navigate({ to: "/flows/$flowId", params: { flowId: made.id } }),
            },
          });
        } catch (error) {
          toastError(t("failed_duplicate"), error);
        }
      },
      async download(item: FlowItem, format: "json" | "spec") {
        try {
          const found = await unwrap(
            api.GET("/api/v1/flows/{flow_id}/export", {
              params: { path: { flow_id: item.id }, query: { format } },
            }),
          );
          download(fileNameOf(item.name, format === "json" ? "json" : "flow"), textFile(found.content));
        } catch (error) {
          toastError(t("failed_export"), error);
        }
      },
    };
  }, [client, navigate, t]);
}

function without(data: InfiniteData<ListPage> | undefined, id: string): InfiniteData<ListPage> | undefined {
  if (!data) return data;
  return { ...data, pages: data.pages.map((page) => ({ ...page, items: page.items.filter((one) => one.id !== id) })) };
}
