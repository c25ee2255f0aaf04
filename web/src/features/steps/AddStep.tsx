import { Command } from "cmdk";
import { Plus } from "lucide-react";
import { useState } from "react";
import { KindIcon } from "@/components/icons/ComponentIcon";
import { Button, IconButton, Popover } from "@/components/ui";
import { useDraftStore } from "@/lib/draft";
import { nodeTemplate } from "@/lib/wiring";
import { fitting } from "./lanes";
import { addStepAfter } from "./stepChanges";
import { useStepTexts } from "./texts";

interface AddStepProps {
  /** The step before; null at the beginning. */
  after: string | null;
  onAdded: (id: string) => void;
  /** A small button between two cards, named after the card before. */
  between?: string;
}

/** Add a step of what fits here. */
export function AddStep({ after, onAdded, between }: AddStepProps) {
  const t = useStepTexts();
  const [open, setOpen] = useState(false);
  const store = useDraftStore();
  const trigger = between ? (
    <IconButton size="sm" label={t("add_after", { name: between })}>
      <Plus />
    </IconButton>
  ) : (
    <Button icon={<Plus />} className="self-start">
      {t("add")}
    </Button>
  );
  return (
    <Popover
      trigger={trigger}
      open={open}
      onOpenChange={setOpen}
      label={t("add")}
      align={between ? "end" : "start"}
      className="w-80! p-0!"
    >
      <Choices
        after={after}
        onPick={(type) => {
          setOpen(false);
          onAdded(addStepAfter(store, after, type));
        }}
      />
    </Popover>
  );
}

function Choices({ after, onPick }: { after: string | null; onPick: (type: string) => void }) {
  const t = useStepTexts();
  const { templates, document } = useDraftStore().getState();
  const before = after ? document.nodes[after] : undefined;
  const found = fitting(templates, before && nodeTemplate(before, templates));
  return (
    <Command label={t("add")} loop>
      <Command.Input
        placeholder={t("find")}
        className="h-9 w-full border-line border-b bg-transparent px-3 outline-none placeholder:text-faint"
      />
      <Command.List className="max-h-80 overflow-y-auto p-1">
        <Command.Empty className="px-2 py-4 text-center text-muted text-sm">{t("nothing_fits")}</Command.Empty>
        {found.map((one) => (
          <Command.Item
            key={one.type}
            value={one.type}
            keywords={[one.label, ...(one.keywords ?? [])]}
            onSelect={() => onPick(one.type)}
            className="flex cursor-default items-start gap-2 rounded-md px-2 py-1.5 data-[selected=true]:bg-hover"
          >
            <KindIcon template={one} className="mt-0.5 size-4 shrink-0" />
            <span className="min-w-0">
              <span className="block truncate">{one.label}</span>
              <span className="line-clamp-1 text-muted text-xs">{one.description}</span>
            </span>
          </Command.Item>
        ))}
      </Command.List>
    </Command>
  );
}
