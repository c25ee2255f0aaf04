import { type KeyboardEvent, useId, useState } from "react";
import { useDraftParts, useDraftStore } from "@/lib/draft";
import { type Choice, fieldChoices, type Mention, mentionAt, mentioned, nodeChoices } from "../model/mentions";
import { commandsFor, type SlashCommand } from "../model/slash";
import { type AssistantText, useAssistantTexts } from "../texts";

const ABOUT: Record<SlashCommand, AssistantText> = {
  "/skip-all": "command_skip",
  "/new": "command_new",
  "/help": "command_help",
};

/** What could be meant at the caret: steps behind `@`, fields behind a dot, commands behind a slash at the start. */
export function useSuggestions(text: string, caret: number, put: (text: string, caret: number) => void) {
  const t = useAssistantTexts();
  const draft = useDraftStore();
  const listId = useId();
  const { nodes, order, templates } = useDraftParts(({ document, templates: all }) => ({
    nodes: document.nodes,
    order: document.order,
    templates: all,
  }));
  const [at, setAt] = useState(0);
  const [closedFor, setClosedFor] = useState("");
  const mention = mentionAt(text, caret, nodes);
  const commands = commandsFor(text);
  const node = mention?.kind === "field" ? nodes[mention.nodeId] : undefined;
  const choices: Choice[] = mention
    ? choicesOf(mention)
    : commands.map((value) => ({ value, label: value, detail: t(ABOUT[value]) }));
  function choicesOf({ kind, query }: Mention): Choice[] {
    if (kind === "field") return fieldChoices(node && templates[node.type], query);
    return nodeChoices(
      order.flatMap((id) => nodes[id] ?? []),
      templates,
      query,
    );
  }
  const complete = commands.length === 1 && commands[0] === text.trim();
  const open = choices.length > 0 && !complete && closedFor !== text;
  const active = Math.min(at, choices.length - 1);
  const show = (next: number) => {
    setAt(next);
    const choice = choices[next];
    // The step that is about to be named is shown on the canvas.
    if (mention?.kind === "node" && choice) draft.getState().select([choice.value]);
  };
  const pick = (choice: Choice) => {
    setAt(0);
    if (!mention) {
      put(choice.value, choice.value.length);
      return;
    }
    const next = mentioned(text, mention, choice.value);
    setClosedFor(mention.kind === "node" ? "" : next.text);
    put(next.text, next.caret);
  };
  /** Whether the key was the list's. */
  const onKeyDown = (event: KeyboardEvent): boolean => {
    if (!open) return false;
    const count = choices.length;
    const take = () => choices[active] && pick(choices[active]);
    const act: Record<string, () => unknown> = {
      ArrowDown: () => show((active + 1) % count),
      ArrowUp: () => show((active + count - 1) % count),
      Enter: take,
      Tab: take,
      Escape: () => setClosedFor(text),
    };
    if (!Object.hasOwn(act, event.key)) return false;
    event.preventDefault();
    act[event.key]?.();
    return true;
  };
  const title = mention
    ? mention.kind === "node"
      ? t("mention_nodes")
      : t("mention_fields", { node: node?.label || mention.nodeId })
    : t("commands");
  return { open, choices, active, listId, activeId: `${listId}-${active}`, title, pick, onKeyDown };
}
