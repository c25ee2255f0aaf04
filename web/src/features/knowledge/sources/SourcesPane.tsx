import { useQuery } from "@tanstack/react-query";
import { FolderSync, Plus } from "lucide-react";
import { useState } from "react";
import type { KnowledgeBase } from "@/api/queries/knowledge";
import { sourcesQuery } from "@/api/queries/knowledgeSources";
import { Button, EmptyState, Listing } from "@/components/ui";
import { SourceDialog } from "./SourceDialog";
import { SourceRow } from "./SourceRow";
import { useSourceTexts } from "./texts";

/** Where the documents of a base come from by themselves. */
export function SourcesPane({ base }: { base: KnowledgeBase }) {
  const t = useSourceTexts();
  const [adding, setAdding] = useState(false);
  const sources = useQuery(sourcesQuery(base.id));
  const add = (
    <Button kind="primary" size="sm" icon={<Plus />} onClick={() => setAdding(true)}>
      {t("add")}
    </Button>
  );
  return (
    <div className="flex flex-col gap-3 py-4">
      {sources.data && sources.data.length > 0 && <div className="self-end">{add}</div>}
      <Listing
        label={t("sources")}
        query={sources}
        empty={
          <EmptyState icon={<FolderSync />} title={t("none")} action={add}>
            {t("none_more")}
          </EmptyState>
        }
      >
        {(source) => <SourceRow key={source.id} base={base} source={source} />}
      </Listing>
      {adding && <SourceDialog base={base} onClose={() => setAdding(false)} />}
    </div>
  );
}
