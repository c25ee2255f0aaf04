import { useQuery } from "@tanstack/react-query";
import { versionQuery } from "@/api/queries/versions";
import { useRights } from "@/api/rights";
import type { FlowNode, FormField } from "@/api/types";
import { useDraft } from "@/lib/draft";
import { asksForFiles } from "../model/form";

/** What of the open flow a person may run: the draft, what was published of it, or nothing, and why. */
export type Runnable = "draft" | "published" | "unpublished" | "not_allowed";

interface Asked {
  runs: Runnable;
  version: number | null;
  /** What the run asks for; null while that is not known. */
  form: readonly FormField[] | null;
  chat: boolean;
  /** Whether it reads files beside the form. */
  files: boolean;
  /** Why what the run asks for could not be read, and how it is tried again. */
  unread?: { error: Error; retry: () => void };
}

const NOTHING: readonly FormField[] = [];

/** Who may not run drafts is asked what the published version asks for, whatever the draft has become since. */
export function useRunnable(): Asked {
  const { may } = useRights();
  const flowId = useDraft((state) => state.flowId);
  const spaceId = useDraft((state) => state.spaceId);
  const published = useDraft((state) => state.publishedVersion);
  const form = useDraft((state) => state.document.form);
  const chat = useDraft((state) => isChat(state.document.form, Object.values(state.document.nodes)));
  const files = useDraft((state) => asksForFiles(state.document.form, Object.values(state.document.nodes)));
  const runs = runnable(may("runs.test", spaceId), may("runs.start", spaceId), published);
  const found = useQuery({ ...versionQuery(flowId, published ?? 0), enabled: runs === "published" });
  if (runs === "draft") return { runs, version: null, form, chat, files };
  if (runs !== "published") return { runs, version: null, form: NOTHING, chat: false, files: false };
  const content = found.data?.definition;
  return {
    runs,
    version: published,
    form: content ? (content.form ?? NOTHING) : null,
    ...(found.error && !content ? { unread: { error: found.error, retry: () => void found.refetch() } } : {}),
    files: content !== undefined && asksForFiles(content.form ?? NOTHING, content.nodes ?? []),
    chat: content !== undefined && isChat(content.form ?? NOTHING, content.nodes ?? []),
  };
}

function runnable(drafts: boolean, start: boolean, published: number | null): Runnable {
  if (drafts) return "draft";
  if (!start) return "not_allowed";
  return published === null ? "unpublished" : "published";
}

function isChat(form: readonly FormField[], nodes: readonly Pick<FlowNode, "type">[]): boolean {
  const types = new Set(nodes.map((node) => node.type));
  return form.length === 0 && types.has("ChatInput") && types.has("ChatOutput");
}
