import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { MessageCircle } from "lucide-react";
import { useState } from "react";
import { type ChatFlow, chatFlowsQuery } from "@/api/queries/chat";
import { Page } from "@/components/page";
import { Button, buttonLook, EmptyState, Input, Problem, Skeleton } from "@/components/ui";
import { useChatTexts } from "./texts";

/** The published flows that the user can chat with. */
export function ChatFlowsPage() {
  const t = useChatTexts();
  const [search, setSearch] = useState("");
  const flows = useInfiniteQuery(chatFlowsQuery(search.trim()));
  const items = flows.data?.pages.flatMap((page) => page.items);
  const none = items?.length === 0;
  return (
    <Page title={t("chat")} about={t("about")}>
      {(search || !none) && (
        <Input
          type="search"
          className="max-w-sm"
          aria-label={t("find_flow")}
          placeholder={t("find_flow")}
          maxLength={200}
          value={search}
          onChange={(event) => setSearch(event.target.value)}
        />
      )}
      {flows.isPending && <Skeleton className="h-20" />}
      {flows.isError && <Problem error={flows.error} retry={() => void flows.refetch()} />}
      {none && search.trim() && <p className="text-muted">{t("no_match")}</p>}
      {none && !search.trim() && (
        <EmptyState
          icon={<MessageCircle />}
          title={t("no_flows")}
          action={
            <Link to="/templates" search={{ category: "chat" }} className={buttonLook()}>
              {t("chat_templates")}
            </Link>
          }
        >
          {t("no_flows_more")}
        </EmptyState>
      )}
      <ul aria-label={t("flows")} className="grid gap-3 sm:grid-cols-2">
        {items?.map((flow) => (
          <FlowRow key={flow.id} flow={flow} />
        ))}
      </ul>
      {flows.hasNextPage && (
        <Button className="self-start" busy={flows.isFetchingNextPage} onClick={() => void flows.fetchNextPage()}>
          {t("more")}
        </Button>
      )}
    </Page>
  );
}

function FlowRow({ flow }: { flow: ChatFlow }) {
  return (
    <li>
      <Link
        to="/chat/$flowId/{-$conversationId}"
        params={{ flowId: flow.id }}
        className="flex h-full flex-col gap-1 rounded-lg border border-line bg-surface p-4 hover:border-line-strong hover:bg-hover"
      >
        <span className="truncate font-medium">{flow.name}</span>
        {flow.description && <span className="line-clamp-2 text-sm text-muted">{flow.description}</span>}
      </Link>
    </li>
  );
}
