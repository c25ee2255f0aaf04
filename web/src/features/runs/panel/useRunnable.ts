import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { versionQuery } from "@/api/queries/versions";
import { useRights } from "@/api/rights";
import type { FlowNode, FormField } from "@/api/types";
import { useDraft } from "@/lib/draft";
import { asksForFiles, asksForText } from "../model/form";

/** What of the open flow a person may run: the draft, what was published of it, or nothing, and why. */
type Runnable = "draft" | "published" | "unpublished" | "not_allowed";

interface Asked {
  runs: Runnable;
  version: number | null;
  /** What the run asks for; null while that is not known. */
  form: readonly FormField[] | null;
  chat: boolean;
  /** Whether it reads the text of the run. */
  text: boolean;
  /** Whether it reads files that the form does not ask for. */
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
  const document = useDraft((state) => state.document);
  const runs = runnable(may("runs.test", spaceId), may("runs.start", spaceId), published);
  const draft = useMemo(() => asksOf(document.form, Object.values(document.nodes)), [document]);
  const version = useQuery({ ...versionQuery(flowId, published ?? 0), enabled: runs === "published" });
  if (runs === "draft") return { runs, version: null, ...draft };
  if (runs !== "published") return { runs, version: null, ...asksOf(NOTHING, []) };
  const content = version.data?.definition;
  return {
    runs,
    version: published,
    ...asksOf(content?.form ?? NOTHING, content?.nodes ?? []),
    ...(content ? {} : { form: null }),
    ...(version.error && !content ? { unread: { error: version.error, retry: () => void version.refetch() } } : {}),
  };
}

/** What a run of this form and these nodes asks for. */
function asksOf(form: readonly FormField[], nodes: readonly FlowNode[]) {
  return { form, chat: isChat(form, nodes), text: asksForText(form, nodes), files: asksForFiles(form, nodes) };
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
