import {
  ContextMenu as RadixContext,
  DropdownMenu as RadixMenu,
  Popover as RadixPopover,
  Tooltip as RadixTooltip,
} from "radix-ui";
import type { ReactNode } from "react";
import { cx } from "./cx";
import { Keys } from "./Keys";
import { rememberOpener } from "./opener";

export type MenuItem =
  | {
      kind?: "item";
      id: string;
      label: ReactNode;
      icon?: ReactNode;
      keys?: string;
      danger?: boolean;
      disabled?: boolean;
      onSelect: () => void;
    }
  | { kind: "line"; id: string }
  | { kind: "heading"; id: string; label: ReactNode };

const PANEL = "z-50 min-w-48 rounded-lg border border-line bg-raised p-1 shadow-float animate-rise";
const ITEM =
  "flex cursor-default select-none items-center gap-2 rounded-md px-2 py-1.5 text-base outline-none data-[disabled]:opacity-40 data-[highlighted]:bg-hover [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-faint";

function items(entries: MenuItem[], Part: typeof RadixMenu | typeof RadixContext) {
  return entries.map((entry) => {
    if (entry.kind === "line") return <Part.Separator key={entry.id} className="my-1 h-px bg-line" />;
    if (entry.kind === "heading") {
      return (
        <Part.Label key={entry.id} className="px-2 pt-1.5 pb-1 text-xs font-medium text-faint">
          {entry.label}
        </Part.Label>
      );
    }
    return (
      <Part.Item
        key={entry.id}
        disabled={entry.disabled ?? false}
        onSelect={entry.onSelect}
        className={cx(ITEM, entry.danger && "text-bad [&_svg]:text-bad")}
      >
        {entry.icon}
        <span className="flex-1 truncate">{entry.label}</span>
        {entry.keys && <Keys keys={entry.keys} />}
      </Part.Item>
    );
  });
}

/** A button's menu. `children` is the button. */
export function Menu({
  items: entries,
  children,
  align = "end",
}: {
  items: MenuItem[];
  children: ReactNode;
  align?: "start" | "end";
}) {
  return (
    <RadixMenu.Root onOpenChange={rememberOpener}>
      <RadixMenu.Trigger asChild>{children}</RadixMenu.Trigger>
      <RadixMenu.Portal>
        <RadixMenu.Content align={align} sideOffset={4} className={PANEL}>
          {items(entries, RadixMenu)}
        </RadixMenu.Content>
      </RadixMenu.Portal>
    </RadixMenu.Root>
  );
}

/** What the right button opens on `children`, one element. */
export function ContextMenu({ items: entries, children }: { items: MenuItem[]; children: ReactNode }) {
  return (
    <RadixContext.Root>
      <RadixContext.Trigger asChild>{children}</RadixContext.Trigger>
      <RadixContext.Portal>
        <RadixContext.Content className={PANEL}>{items(entries, RadixContext)}</RadixContext.Content>
      </RadixContext.Portal>
    </RadixContext.Root>
  );
}

interface PopoverProps {
  trigger: ReactNode;
  children: ReactNode;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  align?: "start" | "center" | "end";
  side?: "top" | "right" | "bottom" | "left";
  className?: string;
  label?: string;
}

export function Popover({
  trigger,
  children,
  open,
  onOpenChange,
  align = "start",
  side = "bottom",
  className,
  label,
}: PopoverProps) {
  return (
    <RadixPopover.Root {...(open === undefined ? {} : { open })} {...(onOpenChange ? { onOpenChange } : {})}>
      <RadixPopover.Trigger asChild>{trigger}</RadixPopover.Trigger>
      <RadixPopover.Portal>
        <RadixPopover.Content
          aria-label={label}
          align={align}
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className={cx(
            "z-50 w-72 rounded-lg border border-line bg-raised p-3 shadow-float outline-none animate-rise",
            className,
          )}
        >
          {children}
        </RadixPopover.Content>
      </RadixPopover.Portal>
    </RadixPopover.Root>
  );
}

/** A short word on what `children`, one element, is. */
export function Tip({
  text,
  keys,
  children,
  side = "bottom",
}: {
  text: ReactNode;
  keys?: string;
  children: ReactNode;
  side?: "top" | "right" | "bottom" | "left";
}) {
  return (
    <RadixTooltip.Root>
      <RadixTooltip.Trigger asChild>{children}</RadixTooltip.Trigger>
      <RadixTooltip.Portal>
        <RadixTooltip.Content
          side={side}
          sideOffset={6}
          collisionPadding={8}
          className="z-50 flex max-w-72 items-center gap-2 rounded-md bg-ink px-2 py-1 text-xs text-canvas shadow-float animate-fade"
        >
          {text}
          {keys && <Keys keys={keys} inverse />}
        </RadixTooltip.Content>
      </RadixTooltip.Portal>
    </RadixTooltip.Root>
  );
}

export const TipProvider = RadixTooltip.Provider;
