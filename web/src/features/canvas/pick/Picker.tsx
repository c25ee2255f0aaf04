import { Command } from "cmdk";
import { type ReactNode, useState } from "react";

export interface Choice {
  id: string;
  label: string;
  hint?: string;
  icon?: ReactNode;
  group?: string;
}

interface Props {
  label: string;
  placeholder: string;
  none: string;
  /** The choices for what was typed, best first. */
  choices: (query: string) => Choice[];
  onChoose: (id: string) => void;
  onEscape?: () => void;
}

/** A list that narrows while one types: arrow keys, Enter, or a click. */
export function Picker({ label, placeholder, none, choices, onChoose, onEscape }: Props) {
  const [query, setQuery] = useState("");
  const found = choices(query);
  return (
    <Command
      label={label}
      shouldFilter={false}
      loop
      className="flex min-h-0 flex-col"
      onKeyDown={(event) => {
        if (event.key === "Escape") onEscape?.();
        event.stopPropagation();
      }}
    >
      <Command.Input
        autoFocus
        value={query}
        onValueChange={setQuery}
        placeholder={placeholder}
        className="h-10 w-full shrink-0 border-b border-line bg-transparent px-3 text-base outline-none placeholder:text-faint"
      />
      <Command.List className="max-h-72 min-h-0 overflow-y-auto overscroll-contain p-1">
        <Command.Empty className="px-3 py-6 text-center text-sm text-muted">{none}</Command.Empty>
        {grouped(found).map(([group, members]) => (
          <Command.Group
            key={group}
            heading={group || undefined}
            className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-faint"
          >
            {members.map((choice) => (
              <Command.Item
                key={choice.id}
                value={choice.id}
                onSelect={() => onChoose(choice.id)}
                className="flex cursor-default select-none items-center gap-2.5 rounded-md px-2 py-1.5 data-[selected=true]:bg-hover [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-muted"
              >
                {choice.icon}
                <span className="min-w-0 flex-1">
                  <span className="block truncate text-sm font-medium">{choice.label}</span>
                  {choice.hint && <span className="block truncate text-xs text-muted">{choice.hint}</span>}
                </span>
              </Command.Item>
            ))}
          </Command.Group>
        ))}
      </Command.List>
    </Command>
  );
}

function grouped(choices: Choice[]): [string, Choice[]][] {
  const groups = new Map<string, Choice[]>();
  for (const choice of choices) groups.set(choice.group ?? "", [...(groups.get(choice.group ?? "") ?? []), choice]);
  return [...groups];
}
