import { CopyPlus, History, Play, Trash2 } from "lucide-react";
import { useState } from "react";
import {
  Button,
  Callout,
  Confirm,
  Dialog,
  EmptyState,
  Menu,
  Popover,
  Progress,
  Skeleton,
  Tip,
  toast,
} from "@/components/ui";
import { Section } from "./Section";
import { useDesignTexts } from "./texts";

export function Floating() {
  const t = useDesignTexts();
  const [open, setOpen] = useState<"dialog" | "confirm" | null>(null);
  const close = () => setOpen(null);
  return (
    <>
      <Section title={t("feedback")}>
        <Callout tone="ok" title={t("saved")}>
          {t("saved_more")}
        </Callout>
        <Callout tone="info" title={t("lead")} />
        <Callout tone="warn" title={t("careful")}>
          {t("careful_more")}
        </Callout>
        <Callout tone="bad" title={t("broken")} action={<Button size="sm">{t("again")}</Button>}>
          {t("broken_more")}
        </Callout>
        <Progress value={0.6} label={t("working")} />
      </Section>
      <Section title={t("floats")}>
        <div className="flex flex-wrap gap-2">
          <Menu
            align="start"
            items={[
              { id: "copy", label: t("secondary"), icon: <CopyPlus />, keys: "$mod+d", onSelect: () => undefined },
              { kind: "line", id: "line" },
              { id: "delete", label: t("danger"), icon: <Trash2 />, danger: true, onSelect: () => undefined },
            ]}
          >
            <Button>{t("menu")}</Button>
          </Menu>
          <Popover label={t("popover")} trigger={<Button>{t("popover")}</Button>}>
            {t("popover_text")}
          </Popover>
          <Button onClick={() => setOpen("dialog")}>{t("dialog")}</Button>
          <Button onClick={() => setOpen("confirm")}>{t("confirm")}</Button>
          <Button
            onClick={() => toast({ title: t("removed"), action: { label: t("undo"), onClick: () => undefined } })}
          >
            {t("toast")}
          </Button>
          <Tip text={t("popover_text")} keys="$mod+k">
            <Button>{t("tip")}</Button>
          </Tip>
        </div>
        <Dialog
          open={open === "dialog"}
          onOpenChange={close}
          title={t("dialog")}
          footer={
            <Button kind="primary" onClick={close}>
              {t("primary")}
            </Button>
          }
        >
          {t("dialog_text")}
        </Dialog>
        <Confirm
          open={open === "confirm"}
          onOpenChange={close}
          title={t("confirm")}
          action={t("danger")}
          onConfirm={close}
        >
          {t("confirm_text")}
        </Confirm>
      </Section>
      <Section title={t("empty")}>
        <div className="grid gap-4 sm:grid-cols-2">
          <div className="rounded-lg border border-line bg-surface">
            <EmptyState
              icon={<History />}
              title={t("no_runs")}
              action={
                <Button kind="primary" icon={<Play />}>
                  {t("start")}
                </Button>
              }
            >
              {t("no_runs_more")}
            </EmptyState>
          </div>
          <div className="flex flex-col gap-3 rounded-lg border border-line bg-surface p-4">
            <Skeleton className="h-6 w-40" />
            <Skeleton className="h-4 w-full" />
            <Skeleton className="h-4 w-3/4" />
            <Skeleton className="h-24 w-full" />
          </div>
        </div>
      </Section>
    </>
  );
}
