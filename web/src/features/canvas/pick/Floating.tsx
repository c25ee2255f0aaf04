import { Dialog } from "radix-ui";
import type { ReactNode } from "react";

const WIDTH = 320;
const HEIGHT = 350;

/** A small dialog where somebody pointed, inside the window; in the upper middle where nobody did. */
export function Floating({
  title,
  at,
  onClose,
  children,
}: {
  title: string;
  at: { x: number; y: number } | null;
  onClose: () => void;
  children: ReactNode;
}) {
  const place = at
    ? {
        left: Math.max(8, Math.min(at.x, innerWidth - WIDTH - 8)),
        top: Math.max(8, Math.min(at.y, innerHeight - HEIGHT - 8)),
      }
    : { left: Math.max(8, (innerWidth - WIDTH) / 2), top: Math.max(8, innerHeight * 0.16) };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40" />
        <Dialog.Content
          aria-describedby={undefined}
          style={{ ...place, width: Math.min(WIDTH, innerWidth - 16) }}
          className="fixed z-50 animate-rise overflow-hidden rounded-lg border border-line bg-raised shadow-float outline-none"
        >
          <Dialog.Title className="sr-only">{title}</Dialog.Title>
          {children}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
