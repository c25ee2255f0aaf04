import { Box } from "lucide-react";
import { cx } from "@/components/ui/cx";
import { ICONS } from "./componentIcons";
import { kindText } from "./kinds";

interface Known {
  icon?: string;
  category: string;
}

/** A component's icon in the colour of its category. */
export function KindIcon({ template, className }: { template: Known | undefined; className?: string }) {
  return <ComponentIcon name={template?.icon} className={cx(kindText(template?.category), className)} />;
}

/** The same on a tile, for heads of nodes and panels. */
export function KindTile({ template, className }: { template: Known | undefined; className: string }) {
  return (
    <span
      className={cx(
        "flex shrink-0 items-center justify-center rounded-md bg-current/12",
        kindText(template?.category),
        className,
      )}
    >
      <ComponentIcon name={template?.icon} />
    </span>
  );
}

/** The icon that a component's template names. */
export function ComponentIcon({ name, className }: { name: string | undefined; className?: string }) {
  const Icon = ICONS[name ?? ""] ?? Box;
  return <Icon aria-hidden {...(className ? { className } : {})} />;
}
