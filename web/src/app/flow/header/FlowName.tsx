import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { type KeyboardEvent, useState } from "react";
import { spacesQuery } from "@/api/queries/spaces";
import { useDraft, useDraftStore } from "@/lib/draft";
import { useTitle } from "@/lib/title";
import { useAppTexts } from "../../texts";

const MOST_LETTERS = 200;

/** The space and the name; a click on the name changes it in place. */
export function FlowName() {
  const t = useAppTexts();
  const store = useDraftStore();
  const name = useDraft((state) => state.document.name);
  const editable = useDraft((state) => state.editable);
  const spaceId = useDraft((state) => state.spaceId);
  const { data: spaces } = useQuery(spacesQuery);
  const space = (spaces?.length ?? 0) > 1 ? spaces?.find((one) => one.id === spaceId)?.name : undefined;
  const [typed, setTyped] = useState<string | null>(null);
  useTitle(name);
  const keep = () => {
    const wanted = typed?.trim();
    if (wanted && wanted !== name) store.getState().setAbout({ name: wanted });
    setTyped(null);
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter") keep();
    if (event.key === "Escape") setTyped(null);
  };
  return (
    <>
      {space && (
        <>
          <Link
            to="/"
            search={{ space: spaceId }}
            className="hidden max-w-32 truncate text-sm text-muted hover:text-ink @3xl:inline"
          >
            {space}
          </Link>
          <ChevronRight aria-hidden className="hidden size-3.5 shrink-0 text-faint @3xl:inline" />
        </>
      )}
      <h1 className="min-w-0 font-semibold">
        {typed === null ? (
          <button
            type="button"
            disabled={!editable}
            title={editable ? t("rename") : name}
            onClick={() => setTyped(name)}
            className="block max-w-full truncate rounded-sm px-1.5 py-0.5 text-left enabled:hover:bg-hover"
          >
            {name || t("untitled")}
          </button>
        ) : (
          <input
            aria-label={t("flow_name")}
            value={typed}
            maxLength={MOST_LETTERS}
            // biome-ignore lint/a11y/noAutofocus: somebody asked to write here
            autoFocus
            onFocus={(event) => event.target.select()}
            onChange={(event) => setTyped(event.target.value)}
            onKeyDown={onKey}
            onBlur={keep}
            className="field-sizing-content min-w-32 max-w-full rounded-sm bg-canvas px-1.5 py-0.5 outline-2 outline-focus"
          />
        )}
      </h1>
    </>
  );
}
