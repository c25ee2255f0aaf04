import { Callout } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { useRunTexts } from "../texts";

const MOST = 4;

/** What keeps the draft from running, with the way to each node. */
export function Blocked() {
  const t = useRunTexts();
  const store = useDraftStore();
  const issues = useDraft((state) => state.issues);
  const errors = issues.filter((one) => one.severity !== "warning");
  if (errors.length === 0) return null;
  return (
    <Callout tone="warn" title={t("cannot_run")}>
      <ul className="mt-1 flex flex-col gap-1">
        {errors.slice(0, MOST).map((one) => {
          const node = one.node_id ?? (one.node as string | undefined);
          return (
            <li key={`${one.code} ${node} ${one.message}`}>
              {one.message}
              {node && (
                <button
                  type="button"
                  className="ml-1 text-accent underline"
                  onClick={() => store.getState().focusNode(node)}
                >
                  {t("show_node")}
                </button>
              )}
            </li>
          );
        })}
      </ul>
    </Callout>
  );
}
