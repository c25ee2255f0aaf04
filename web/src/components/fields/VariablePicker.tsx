import { Command } from "cmdk";
import { Braces } from "lucide-react";
import { Popover } from "radix-ui";
import { useMemo } from "react";
import { cx } from "@/components/ui";
import { useDraft, useDraftStore } from "@/lib/draft";
import { type VariableGroup, variablesAt } from "@/lib/wiring";
import { useFieldTexts } from "./texts";
import { useExpected } from "./useExpected";

interface VariablePickerProps {
  nodeId: string;
  open: boolean;
  onOpenChange: (open: boolean) => void;
  onPick: (path: string) => void;
  /** Where the cursor goes when the picker is gone. */
  onClosed: () => void;
}

/** The `{ }` button: everything that a text here may refer to, by its name; nobody types braces. */
export function VariablePicker({ nodeId, open, onOpenChange, onPick, onClosed }: VariablePickerProps) {
  const t = useFieldTexts();
  return (
    <Popover.Root open={open} onOpenChange={onOpenChange}>
      <Popover.Trigger
        aria-label={t("insert")}
        title={t("insert")}
        className="inline-flex size-6 items-center justify-center rounded-sm text-faint hover:bg-hover hover:text-accent data-[state=open]:text-accent"
      >
        <Braces aria-hidden className="size-4" />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          align="end"
          sideOffset={4}
          collisionPadding={8}
          aria-label={t("insert")}
          onCloseAutoFocus={(event) => {
            event.preventDefault();
            onClosed();
          }}
          className="z-50 w-80 max-w-[calc(100vw-1rem)] animate-rise overflow-hidden rounded-lg border border-line bg-raised shadow-float outline-none"
        >
          <Choices nodeId={nodeId} onPick={onPick} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}

function Choices({ nodeId, onPick }: { nodeId: string; onPick: (path: string) => void }) {
  const t = useFieldTexts();
  const store = useDraftStore();
  const document = useDraft((state) => state.document);
  const expected = useExpected();
  const groups = useMemo(
    () => variablesAt(document, store.getState().templates, nodeId, expected),
    [document, store, nodeId, expected],
  );
  return (
    <Command label={t("insert")} loop>
      <Command.Input
        placeholder={t("find_variable")}
        className="h-9 w-full border-b border-line bg-transparent px-3 outline-none placeholder:text-faint"
      />
      <Command.List className="max-h-72 overflow-y-auto p-1">
        <Command.Empty className="px-2 py-4 text-center text-sm text-muted">{t("no_variable")}</Command.Empty>
        {groups.map((group) => (
          <Group key={group.id} group={group} onPick={onPick} />
        ))}
      </Command.List>
    </Command>
  );
}

function Group({ group, onPick }: { group: VariableGroup; onPick: (path: string) => void }) {
  const t = useFieldTexts();
  const isInput = group.id === "flow_input";
  const heading = isInput ? t("run_input") : t("step", { number: group.number, name: group.label });
  return (
    <Command.Group
      heading={heading}
      className="[&_[cmdk-group-heading]]:px-2 [&_[cmdk-group-heading]]:pt-1.5 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-faint [&_[cmdk-group-heading]]:text-xs"
    >
      {group.variables.map((one) => (
        <Command.Item
          key={one.path}
          value={one.path}
          keywords={[one.label, heading]}
          onSelect={() => onPick(one.path)}
          className={cx(
            "flex cursor-default items-center gap-2 rounded-md px-2 py-1 data-[selected=true]:bg-hover",
            ["", "pl-5", "pl-8", "pl-11", "pl-14"][one.depth],
          )}
        >
          <span className="min-w-0 flex-1 truncate">
            {isInput ? (one.label ? t("form_answer", { name: one.label }) : t("free_text")) : one.label}
          </span>
          <span className="text-faint text-xs">{one.type}</span>
        </Command.Item>
      ))}
    </Command.Group>
  );
}
