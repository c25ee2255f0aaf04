import { Tabs as RadixTabs } from "radix-ui";
import type { ReactNode } from "react";
import { cx } from "./cx";

interface TabsProps<T extends string> {
  value: T;
  onChange: (value: T) => void;
  tabs: readonly { value: T; label: ReactNode; content: ReactNode }[];
  "aria-label": string;
  className?: string;
}

/** Views of one thing, one shown. The content of the others is not drawn. */
export function Tabs<T extends string>({ value, onChange, tabs, className, ...rest }: TabsProps<T>) {
  return (
    <RadixTabs.Root
      value={value}
      onValueChange={(next) => onChange(next as T)}
      className={cx("flex min-h-0 flex-col", className)}
    >
      <RadixTabs.List {...rest} className="flex shrink-0 gap-0.5 overflow-x-auto border-b border-line px-2">
        {tabs.map((tab) => (
          <RadixTabs.Trigger
            key={tab.value}
            value={tab.value}
            className="-mb-px h-9 -outline-offset-2 whitespace-nowrap border-b-2 border-transparent px-2 text-sm font-medium text-muted hover:text-ink data-[state=active]:border-accent data-[state=active]:text-ink"
          >
            {tab.label}
          </RadixTabs.Trigger>
        ))}
      </RadixTabs.List>
      {tabs.map((tab) => (
        <RadixTabs.Content key={tab.value} value={tab.value} className="min-h-0 flex-1 overflow-auto outline-none">
          {tab.content}
        </RadixTabs.Content>
      ))}
    </RadixTabs.Root>
  );
}
