import { Ellipsis } from "lucide-react";
import { Menu } from "@/components/ui";
import { useNodeMenu } from "../actions/useNodeMenu";
import { useCanvasTexts } from "../texts";

/** The node's menu for pointers without a right button, and for keyboards. */
export function NodeMenuButton({ id }: { id: string }) {
  const t = useCanvasTexts();
  const items = useNodeMenu(id);
  return (
    <Menu items={items}>
      <button
        type="button"
        aria-label={t("node_menu")}
        className="nodrag nopan -mr-1 inline-flex size-6 shrink-0 items-center justify-center rounded-md text-faint hover:bg-hover hover:text-ink [&_svg]:size-4"
      >
        <Ellipsis />
      </button>
    </Menu>
  );
}
