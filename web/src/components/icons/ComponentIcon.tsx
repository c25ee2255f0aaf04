import { Box } from "lucide-react";
import { ICONS } from "./componentIcons";

/** The icon that a component's template names. */
export function ComponentIcon({ name, className }: { name: string | undefined; className?: string }) {
  const Icon = ICONS[name ?? ""] ?? Box;
  return <Icon aria-hidden {...(className ? { className } : {})} />;
}
