import { CircleHelp } from "lucide-react";
import { KindTile } from "@/components/icons";
import { Chip, IconButton, Popover } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { useInspectorTexts } from "./texts";

/** What it is, what it is called, and what it does. */
export function NodeHead({ nodeId }: { nodeId: string }) {
  const t = useInspectorTexts();
  const store = useDraftStore();
  const node = useDraft((state) => state.document.nodes[nodeId]);
  const template = useDraft((state) => state.templates[node?.type ?? ""]);
  const editable = useDraft((state) => state.editable);
  if (!node) return null;
  return (
    <header className="flex items-start gap-2.5 border-line border-b py-2.5 pr-11 pl-3">
      <KindTile template={template} className="mt-0.5 size-8 [&_svg]:size-4.5" />
      <div className="min-w-0 flex-1">
        <input
          aria-label={t("name")}
          value={node.label ?? ""}
          placeholder={template?.label ?? node.type}
          maxLength={200}
          disabled={!editable}
          onChange={(event) => store.getState().setLabel(nodeId, event.target.value)}
          className="-ml-1.5 h-7 w-full truncate rounded-md border border-transparent bg-transparent px-1.5 font-semibold placeholder:text-ink hover:border-line focus:border-line-strong"
        />
        <div className="flex items-center gap-1.5 text-muted text-xs">
          <span className="truncate">{template?.label ?? node.type}</span>
          <span aria-hidden>·</span>
          <code className="truncate font-mono">{nodeId}</code>
          {node.code && <Chip tone="info">{t("own_code")}</Chip>}
        </div>
      </div>
      {template?.description && (
        <Popover
          align="end"
          label={t("help")}
          trigger={
            <IconButton size="sm" label={t("help")}>
              <CircleHelp />
            </IconButton>
          }
        >
          <p className="text-sm">{template.description}</p>
        </Popover>
      )}
    </header>
  );
}
