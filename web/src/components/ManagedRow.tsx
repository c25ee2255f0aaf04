import { ChevronDown, ChevronUp, EllipsisVertical, Pencil, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Confirm, IconButton, Menu, type MenuItem, Row, Switch } from "@/components/ui";

type Words = "switch" | "actions" | "show" | "edit" | "remove" | "remove_title" | "remove_about";

interface ManagedRowProps {
  name: string;
  icon: ReactNode;
  /** What follows the name. */
  title?: ReactNode;
  detail: ReactNode;
  muted?: boolean;
  /** Turns it on and off. */
  toggle?: { checked: boolean; busy: boolean; onChange: (on: boolean) => void };
  /** Entries of the menu before those that edit and remove. */
  items?: MenuItem[];
  manages: boolean;
  /** Draws the form that changes it. */
  editor: (onClose: () => void) => ReactNode;
  removal: { isPending: boolean; mutate: (values: undefined, options: { onSettled: () => void }) => void };
  /** Says the texts of the feature. */
  t: (key: Words, values?: { name: string }) => string;
  /** Whether it is unfolded at first. */
  shown?: boolean;
  /** What is shown when it is unfolded. */
  more: () => ReactNode;
  children?: ReactNode;
}

/** A thing in a list that is turned on and off, edited, removed and unfolded. */
export function ManagedRow({ name, t, manages, toggle, removal, editor, more, ...row }: ManagedRowProps) {
  const [open, setOpen] = useState(row.shown ?? false);
  const [dialog, setDialog] = useState<"edit" | "remove" | null>(null);
  const close = () => setDialog(null);
  return (
    <Row
      icon={row.icon}
      muted={row.muted ?? false}
      title={
        <>
          <span>{name}</span>
          {row.title}
        </>
      }
      detail={row.detail}
      aside={
        <>
          {toggle && (
            <Switch
              aria-label={t("switch", { name })}
              checked={toggle.checked}
              disabled={!manages || toggle.busy}
              onChange={toggle.onChange}
            />
          )}
          <Menu
            items={[
              ...(row.items ?? []),
              { id: "edit", label: t("edit"), icon: <Pencil />, disabled: !manages, onSelect: () => setDialog("edit") },
              { kind: "line", id: "line" },
              {
                id: "remove",
                label: t("remove"),
                icon: <Trash2 />,
                danger: true,
                disabled: !manages,
                onSelect: () => setDialog("remove"),
              },
            ]}
          >
            <IconButton label={t("actions", { name })}>
              <EllipsisVertical />
            </IconButton>
          </Menu>
          <IconButton label={t("show", { name })} aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? <ChevronUp /> : <ChevronDown />}
          </IconButton>
        </>
      }
    >
      {open && more()}
      <Confirm
        open={dialog === "remove"}
        onOpenChange={(opens) => !opens && close()}
        title={t("remove_title", { name })}
        action={t("remove")}
        busy={removal.isPending}
        onConfirm={() => removal.mutate(undefined, { onSettled: close })}
      >
        {t("remove_about")}
      </Confirm>
      {dialog === "edit" && editor(close)}
      {row.children}
    </Row>
  );
}
