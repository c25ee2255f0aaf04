import { Braces, Download, FileCheck, FileCode, FileText, Image, ShieldCheck } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button, Menu, toastError } from "@/components/ui";
import { i18next } from "@/lib/i18n/i18n";
import { type Exported, type ExportKind, exportAs } from "./fetching";
import { useExportTexts } from "./texts";

const ICONS: Record<ExportKind, ReactNode> = {
  json: <Braces />,
  spec: <FileCode />,
  svg: <Image />,
  png: <Image />,
  report: <FileText />,
  evidence: <ShieldCheck />,
};

interface ExportButtonsProps extends Exported {
  kinds: readonly ExportKind[];
  /** Before anything is fetched: whether the server has what is on the screen. */
  before?: () => Promise<boolean>;
}

function useTaking(before: ExportButtonsProps["before"], what: Exported) {
  const t = useExportTexts();
  const [busy, setBusy] = useState<ExportKind | null>(null);
  const take = async (kind: ExportKind) => {
    setBusy(kind);
    try {
      await before?.();
      await exportAs(kind, what, i18next.language === "sv" ? "sv" : "en");
    } catch (error) {
      toastError(t("failed"), error);
    }
    setBusy(null);
  };
  return { busy, take };
}

/** The same in a menu, where there is little room. */
export function ExportMenu({ kinds, before, ...what }: ExportButtonsProps) {
  const t = useExportTexts();
  const { busy, take } = useTaking(before, what);
  const items = kinds.map((kind) => ({
    id: kind,
    label: t(kind),
    icon: ICONS[kind] ?? <FileCheck />,
    onSelect: () => void take(kind),
  }));
  return (
    <Menu items={items}>
      <Button icon={<Download />} busy={busy !== null}>
        {t("download")}
      </Button>
    </Menu>
  );
}

/** Files of a flow or a run, one button a kind. */
export function ExportButtons({ kinds, before, ...what }: ExportButtonsProps) {
  const t = useExportTexts();
  const { busy, take } = useTaking(before, what);
  return (
    <div className="flex flex-wrap gap-2">
      {kinds.map((kind) => (
        <Button
          key={kind}
          icon={ICONS[kind] ?? <FileCheck />}
          busy={busy === kind}
          disabled={busy !== null}
          onClick={() => void take(kind)}
        >
          {t(kind)}
        </Button>
      ))}
    </div>
  );
}
