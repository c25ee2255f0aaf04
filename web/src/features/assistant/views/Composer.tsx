import { ArrowUp, AtSign, Square } from "lucide-react";
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from "react";
import { IconButton } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { onFirstLine, onLastLine } from "../model/history";
import { useAssistantTexts } from "../texts";
import { useAssistant, useAssistantStore, useConversation } from "./context";
import { ModelMenu } from "./ModelMenu";
import { Suggestions } from "./Suggestions";
import { useSuggestions } from "./useSuggestions";

/** Where one writes: Enter sends, Shift+Enter begins a line, Up and Down bring back what was sent. */
export function Composer() {
  const t = useAssistantTexts();
  const store = useAssistantStore();
  const conversation = useConversation();
  const text = useAssistant((state) => state.text);
  const working = useAssistant((state) => state.working !== null);
  const refining = useAssistant((state) => state.stash !== null);
  const field = useRef<HTMLTextAreaElement>(null);
  const [caret, setCaret] = useState(0);
  const suggestions = useSuggestions(text, caret, (next, at) => put(next, at));
  const wanted = useRef<number | null>(null);
  const put = (next: string, at: number) => {
    wanted.current = at;
    store.getState().setText(next);
    setCaret(at);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the caret is set once the text stands in the field
  useLayoutEffect(() => {
    if (wanted.current === null) return;
    field.current?.setSelectionRange(wanted.current, wanted.current);
    wanted.current = null;
  }, [text]);
  useEffect(() => field.current?.focus(), []);
  const send = () => void conversation.say(store.getState().text);
  const recall = (way: "older" | "newer") => {
    if (!store.getState().recall(way)) return;
    const end = store.getState().text.length;
    wanted.current = end;
    setCaret(end);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing || suggestions.onKeyDown(event)) return;
    const { value, selectionStart, selectionEnd } = event.currentTarget;
    if (event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return;
    const act: Record<string, () => unknown> = { Enter: () => working || send() };
    if (onFirstLine(value, selectionStart, selectionEnd)) act.ArrowUp = () => recall("older");
    if (onLastLine(value, selectionStart, selectionEnd)) act.ArrowDown = () => recall("newer");
    if (!Object.hasOwn(act, event.key)) return;
    event.preventDefault();
    act[event.key]?.();
  };
  const { open, listId, activeId } = suggestions;
  return (
    <form
      className="relative shrink-0 border-t border-line p-2"
      onSubmit={(event) => {
        event.preventDefault();
        if (!working) send();
      }}
    >
      {open && <Suggestions {...suggestions} />}
      <div className="rounded-lg border border-line-strong bg-surface focus-within:border-focus">
        <textarea
          ref={field}
          rows={2}
          value={text}
          role="combobox"
          aria-label={t("input")}
          aria-expanded={open}
          aria-controls={open ? listId : undefined}
          aria-activedescendant={open ? activeId : undefined}
          aria-autocomplete="list"
          placeholder={refining ? t("placeholder_refine") : t("placeholder")}
          onChange={(event) => {
            store.getState().setText(event.target.value);
            setCaret(event.target.selectionStart);
          }}
          onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          className="field-sizing-content block max-h-48 min-h-12 w-full resize-none bg-transparent px-3 pt-2 text-base outline-none placeholder:text-faint"
        />
        <div className="flex items-center gap-1 px-1.5 pb-1.5">
          <ModelMenu />
          <MentionSelected put={put} caret={caret} />
          <span className="ml-auto" />
          {working ? (
            <IconButton size="sm" kind="secondary" label={t("stop")} onClick={() => conversation.stop()}>
              <Square className="fill-current" />
            </IconButton>
          ) : (
            <IconButton size="sm" kind="primary" label={t("send")} type="submit" disabled={!text.trim()}>
              <ArrowUp />
            </IconButton>
          )}
        </div>
      </div>
    </form>
  );
}

/** What is selected on the canvas, to be spoken of. */
function MentionSelected({ put, caret }: { put: (text: string, caret: number) => void; caret: number }) {
  const t = useAssistantTexts();
  const store = useAssistantStore();
  const id = useDraft((state) => (state.selectedNodes.length === 1 ? state.selectedNodes[0] : undefined));
  const name = useDraft((state) => (id ? state.document.nodes[id]?.label || id : ""));
  if (!id) return null;
  const mention = () => {
    const { text } = store.getState();
    const before = text.slice(0, caret);
    const token = `${before && !/\s$/.test(before) ? " " : ""}'${id}' `;
    put(before + token + text.slice(caret), caret + token.length);
  };
  return (
    <button
      type="button"
      title={t("mention_selected", { node: name })}
      aria-label={t("mention_selected", { node: name })}
      onClick={mention}
      className="flex h-7 min-w-0 items-center gap-1 rounded-md px-1.5 text-xs text-muted hover:bg-hover hover:text-ink"
    >
      <AtSign aria-hidden className="size-3.5 shrink-0" />
      <span className="max-w-28 truncate">{name}</span>
    </button>
  );
}
