import { DiffView } from "@/components/diff/DiffView";
import { Button, Chip, cx } from "@/components/ui";
import { useDraft } from "@/lib/draft";
import { nodeName } from "@/lib/nodeName";
import { type ChangeLine, isLong } from "./comparison";
import { fieldName } from "./fieldName";
import { usePublishTexts } from "./texts";

interface ChangeListProps {
  lines: ChangeLine[];
  selected: string | undefined;
  onSelect: (nodeId: string | undefined) => void;
}

const TONES = { added: "ok", removed: "bad", changed: "warn" } as const;

/** Every change in words; of one node where one is chosen. */
export function ChangeList({ lines, selected, onSelect }: ChangeListProps) {
  const t = usePublishTexts();
  const shown = selected ? lines.filter((line) => line.nodeId === selected) : lines;
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <div className="flex items-center gap-2">
        <h3 className="flex-1 font-medium">
          {selected ? t("changes_of", { name: selected }) : t("changes", { count: lines.length })}
        </h3>
        {selected && (
          <Button size="sm" onClick={() => onSelect(undefined)}>
            {t("all_changes")}
          </Button>
        )}
      </div>
      {shown.length === 0 && <p className="text-sm text-muted">{t("no_changes_of_node")}</p>}
      <ol className="flex max-h-[min(54vh,34rem)] flex-col divide-y divide-line overflow-y-auto">
        {shown.map((line) => (
          <li key={line.key} className="flex flex-col gap-1.5 py-2">
            <div className="flex flex-wrap items-center gap-2">
              <Chip tone={TONES[line.kind]}>{t(line.kind)}</Chip>
              <span className="min-w-0 break-words text-sm">
                <What line={line} />
              </span>
            </div>
            <Values line={line} />
          </li>
        ))}
      </ol>
    </div>
  );
}

/** What a change is about: the field by its label, the node by its name. */
function What({ line }: { line: ChangeLine }) {
  const t = usePublishTexts();
  const node = useDraft((state) => (line.nodeId ? state.document.nodes[line.nodeId] : undefined));
  const template = useDraft((state) => (node ? state.templates[node.type] : undefined));
  if (line.what !== "field") return t(line.what, { name: line.name });
  const { key, name } = fieldName(line.name, template);
  return (
    <>
      {key ? t(key) : name}
      {line.nodeId && (
        <span className="text-muted">
          {" "}
          {t("in_node", { name: node ? nodeName(node, { [node.type]: template }) : line.nodeId })}
        </span>
      )}
    </>
  );
}

function Values({ line }: { line: ChangeLine }) {
  const t = usePublishTexts();
  if (line.before === null && line.after === null) return null;
  if (isLong(line)) return <DiffView label={line.name} before={line.before ?? ""} after={line.after ?? ""} />;
  return (
    <p className="flex flex-wrap items-center gap-1.5 text-sm">
      {line.before !== null && (
        <del className={cx("break-all rounded-sm bg-bad-soft px-1 text-bad", line.after === null && "no-underline")}>
          <span className="sr-only">{t("before")}: </span>
          {line.before || t("empty")}
        </del>
      )}
      {line.before !== null && line.after !== null && <span aria-hidden>→</span>}
      {line.after !== null && (
        <ins className="break-all rounded-sm bg-ok-soft px-1 text-ok no-underline">
          <span className="sr-only">{t("after")}: </span>
          {line.after || t("empty")}
        </ins>
      )}
    </p>
  );
}
