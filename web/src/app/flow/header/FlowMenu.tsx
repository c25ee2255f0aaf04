import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import {
  CopyPlus,
  Database,
  Download,
  Ellipsis,
  FileText,
  Hammer,
  RadioTower,
  SlidersHorizontal,
  Trash2,
} from "lucide-react";
import { Suspense, useState } from "react";
import { api, unwrap } from "@/api/client";
import { flowKeys } from "@/api/queries/flows";
import { useRights } from "@/api/rights";
import { IconButton, Menu, toast, toastError } from "@/components/ui";
import { useCommands } from "@/lib/commands/commands";
import { forgetFlow } from "@/lib/commands/recent";
import { download, fileNameOf, textFile } from "@/lib/download";
import { toFlow, useDraft, useDraftStore } from "@/lib/draft";
import { part } from "@/lib/part";
import { useAppTexts } from "../../texts";

const SendEventDialog = part(async () => ({ default: (await import("@/components/events")).SendEventDialog }));
const FlowStateDialog = part(async () => ({ default: (await import("@/components/flow-state")).FlowStateDialog }));
const FlowSettingsDialog = part(async () => ({ default: (await import("./FlowSettingsDialog")).FlowSettingsDialog }));

/** What is done with a flow as a whole. */
export function FlowMenu({ flowId }: { flowId: string }) {
  const t = useAppTexts();
  const editable = useDraft((state) => state.editable);
  const [open, setOpen] = useState<"settings" | "event" | "state" | null>(null);
  const close = () => setOpen(null);
  const spaceId = useDraft((state) => state.spaceId);
  const { may } = useRights();
  const { duplicate, download, remove, develop } = useWholeFlow(flowId);
  const entries = [
    {
      id: "settings",
      label: t("flow_settings"),
      icon: <SlidersHorizontal />,
      disabled: !editable,
      onSelect: () => setOpen("settings"),
    },
    {
      id: "develop",
      label: t("develop_flow"),
      icon: <Hammer />,
      disabled: !editable,
      onSelect: () => void develop(),
    },
    { id: "state", label: t("flow_state"), icon: <Database />, onSelect: () => setOpen("state") },
    {
      id: "event",
      label: t("send_event"),
      icon: <RadioTower />,
      disabled: !may("runs.start", spaceId),
      onSelect: () => setOpen("event"),
    },
    { id: "duplicate", label: t("duplicate"), icon: <CopyPlus />, onSelect: () => void duplicate() },
    { id: "json", label: t("export_json"), icon: <Download />, onSelect: () => void download("json") },
    { id: "spec", label: t("export_spec"), icon: <FileText />, onSelect: () => void download("spec") },
  ];
  const last = { id: "delete", label: t("delete_flow"), icon: <Trash2 />, danger: true, disabled: !editable };
  useCommands("flow", () =>
    [...entries, { ...last, onSelect: () => void remove() }]
      .filter((one) => !("disabled" in one && one.disabled))
      .map(({ id, label, icon, onSelect }) => ({
        id: `flow.${id}`,
        group: t("this_flow"),
        label,
        icon,
        run: onSelect,
      })),
  );
  return (
    <>
      <Menu items={[...entries, { kind: "line", id: "line" }, { ...last, onSelect: () => void remove() }]}>
        <IconButton label={t("more")} size="sm">
          <Ellipsis />
        </IconButton>
      </Menu>
      <Suspense>
        {open === "settings" && <FlowSettingsDialog onClose={close} />}
        {open === "event" && <SendEventDialog spaceId={spaceId} onClose={close} />}
        {open === "state" && (
          <FlowStateDialog
            flowId={flowId}
            mayEdit={may("flows.edit", spaceId)}
            mayPublish={may("flows.publish", spaceId)}
            onClose={close}
          />
        )}
      </Suspense>
    </>
  );
}

function useWholeFlow(flowId: string) {
  const t = useAppTexts();
  const store = useDraftStore();
  const navigate = useNavigate();
  const client = useQueryClient();
  const path = { params: { path: { flow_id: flowId } } };
  const tried = async (failed: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      toastError(failed, error);
    }
  };
  const again = () => client.invalidateQueries({ queryKey: flowKeys.lists });
  const open = (id: string) => navigate({ to: "/flows/$flowId", params: { flowId: id } });
  return {
    develop: async () => {
      // The agent works on what is stored: what was drawn just now belongs to it.
      await store.getState().flush();
      await navigate({ to: "/develop/new", search: { flow: flowId } });
    },
    duplicate: () =>
      tried(t("failed_duplicate"), async () => {
        const { document, spaceId, editable } = store.getState();
        const name = t("copy_of", { name: document.name }).slice(0, 200);
        // Where one only looks nothing is made: the copy is one's own.
        const body = { name, definition: toFlow(document), ...(editable ? { space_id: spaceId } : {}) };
        const made = await unwrap(api.POST("/api/v1/flows", { body }));
        await again();
        await open(made.id);
        toast({ title: t("duplicated", { name }), tone: "ok" });
      }),
    download: (format: "json" | "spec") =>
      tried(t("failed_export"), async () => {
        await store.getState().flush();
        const found = await unwrap(
          api.GET("/api/v1/flows/{flow_id}/export", { params: { path: { flow_id: flowId }, query: { format } } }),
        );
        download(fileNameOf(found.name, format === "json" ? "json" : "flow"), textFile(found.content));
      }),
    remove: () =>
      tried(t("failed_delete"), async () => {
        const { name } = store.getState().document;
        await store.getState().flush();
        await navigate({ to: "/" });
        await unwrap(api.DELETE("/api/v1/flows/{flow_id}", path));
        client.removeQueries({ queryKey: flowKeys.one(flowId) });
        forgetFlow(flowId);
        await again();
        const restore = () =>
          tried(t("failed_restore"), async () => {
            await unwrap(api.POST("/api/v1/flows/{flow_id}/restore", path));
            await again();
            await open(flowId);
          });
        toast({ title: t("deleted", { name }), action: { label: t("undo"), onClick: () => void restore() } });
      }),
  };
}
