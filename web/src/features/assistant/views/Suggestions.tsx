import { useEffect, useRef } from "react";
import { cx } from "@/components/ui";
import type { Choice } from "../model/mentions";

interface SuggestionsProps {
  choices: Choice[];
  active: number;
  listId: string;
  title: string;
  pick: (choice: Choice) => void;
}

/** What could be meant, above the field; the keyboard stays in the field. */
export function Suggestions({ choices, active, listId, title, pick }: SuggestionsProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector(`[data-at="${active}"]`)?.scrollIntoView({ block: "nearest" });
  }, [active]);
  return (
    <div className="absolute inset-x-2 bottom-full z-10 mb-1 overflow-hidden rounded-lg border border-line bg-raised shadow-float">
      <p className="px-3 pt-2 pb-1 text-xs font-medium text-faint">{title}</p>
      <div ref={list} id={listId} role="listbox" aria-label={title} className="max-h-56 overflow-y-auto p-1 pt-0">
        {choices.map((choice, at) => (
          <div
            key={choice.value}
            id={`${listId}-${at}`}
            data-at={at}
            role="option"
            tabIndex={-1}
            aria-selected={at === active}
            onMouseDown={(event) => {
              event.preventDefault();
              pick(choice);
            }}
            className={cx(
              "flex cursor-default flex-wrap items-baseline gap-x-2 rounded-md px-2 py-1.5",
              at === active && "bg-hover",
            )}
          >
            <span className="min-w-0 wrap-anywhere">{choice.label}</span>
            <span className="min-w-0 wrap-anywhere text-xs text-muted">{choice.detail}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
