import { useQuery } from "@tanstack/react-query";
import { Database } from "lucide-react";
import { useState } from "react";
import { stateListQuery } from "@/api/queries/flowState";
import { Dialog, EmptyState, Problem, Select, Skeleton } from "@/components/ui";
import { ago } from "@/lib/i18n/format";
import { StateClass, StateType } from "./StateClass";
import { StateValue } from "./StateValue";
import { useStateTexts } from "./texts";

interface FlowStateDialogProps {
  flowId: string;
  /** Whether values of published versions may be changed; those of test runs may be where the flow may. */
  mayPublish: boolean;
  mayEdit: boolean;
  onClose: () => void;
}

/** The values that last between runs of a flow. */
export function FlowStateDialog({ flowId, mayPublish, mayEdit, onClose }: FlowStateDialogProps) {
  const t = useStateTexts();
  const [draft, setDraft] = useState(false);
  const [name, setName] = useState<string | null>(null);
  const { data, error } = useQuery(stateListQuery(flowId, draft));
  const which = draft ? "drafts" : "published";
  return (
    <Dialog open onOpenChange={(open) => !open && onClose()} title={t("title")} side>
      <div className="flex flex-col gap-4 p-4">
        <p className="text-sm text-muted">{t("about")}</p>
        <Select
          aria-label={t("whose")}
          value={which}
          options={[
            { value: "published", label: t("published") },
            { value: "drafts", label: t("drafts") },
          ]}
          onChange={(next) => {
            setDraft(next === "drafts");
            setName(null);
          }}
        />
        {error && <Problem error={error} />}
        {!data && !error && <Skeleton className="h-24" />}
        {data?.length === 0 && (
          <EmptyState icon={<Database />} title={t("empty")}>
            {t("empty_more")}
          </EmptyState>
        )}
        {name !== null && data ? (
          <StateValue
            key={`${which}:${name}`}
            flowId={flowId}
            name={name}
            draft={draft}
            editable={draft ? mayEdit : mayPublish}
            onBack={() => setName(null)}
          />
        ) : (
          <ul aria-label={t("names")} className="flex flex-col gap-1">
            {data?.map((value) => (
              <li key={value.name}>
                <button
                  type="button"
                  className="flex w-full flex-col rounded-md border border-line px-3 py-2 text-left hover:bg-hover"
                  onClick={() => setName(value.name)}
                >
                  <span className="flex items-center gap-2 font-mono text-sm">
                    {value.name}
                    <StateType type={value.type} />
                    <StateClass level={value.classification} />
                  </span>
                  <span className="text-xs text-muted">
                    {t("version", { version: value.version, when: ago(value.changed_at) })}
                  </span>
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
    </Dialog>
  );
}
