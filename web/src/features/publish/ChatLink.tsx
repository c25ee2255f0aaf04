import { Link } from "@tanstack/react-router";
import { ExternalLink } from "lucide-react";
import { Callout, CopyButton } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { usePublishTexts } from "./texts";

/** The address at which signed-in users chat with the published flow. */
export function ChatLink() {
  const t = usePublishTexts();
  const flowId = useDraft((state) => state.flowId);
  const form = useDraft((state) => state.document.form);
  const nodes = useDraft((state) => state.document.nodes);
  const published = useDraft((state) => state.publishedVersion);
  const chats = form.length === 0 && Object.values(nodes).some((node) => node.type === "ChatInput");
  const address = `${window.location.origin}/chat/${flowId}`;
  return (
    <div className="flex flex-col gap-3 p-4">
      <p className="text-sm text-muted">{t("chat_about")}</p>
      {!chats && <Callout>{t("chat_needs")}</Callout>}
      {published === null && <Callout>{t("chat_publish_first")}</Callout>}
      <div className="flex items-center gap-2 rounded-md bg-sunken py-1.5 pr-1.5 pl-3">
        <code className="min-w-0 flex-1 break-all font-mono text-xs">{address}</code>
        <CopyButton text={address} label={t("copy_chat")} />
      </div>
      {chats && published !== null && (
        <Link
          to="/chat/$flowId/{-$conversationId}"
          params={{ flowId }}
          className="inline-flex items-center gap-1.5 self-start text-sm font-medium text-accent hover:underline"
        >
          <ExternalLink aria-hidden className="size-4" />
          {t("open_chat")}
        </Link>
      )}
    </div>
  );
}
