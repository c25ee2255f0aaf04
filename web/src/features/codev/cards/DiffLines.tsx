import { cx } from "@/components/ui";
import { type Change, type ChangedNode, changedNodes, type Sign } from "../model/changes";
import { useCodevTexts } from "../texts";

const LOOKS: Record<Sign, string> = {
  "+": "border-ok/25 bg-ok-soft text-ok",
  "-": "border-bad/25 bg-bad-soft text-bad",
  "~": "border-warn/25 bg-warn-soft text-warn",
};
const SAID = { "+": "added", "-": "removed", "~": "altered" } as const;

/** What is different, node by node: what came, went or changed, as sign, colour and word, with its values. */
export function DiffLines({ lines, label }: { lines: readonly string[]; label: string }) {
  return (
    <section
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
      className="max-h-[28rem] overflow-auto rounded-md border border-line bg-surface text-sm"
    >
      <ul className="divide-y divide-line">
        {changedNodes(lines).map((node) => (
          <li key={node.id} className="px-3 py-2">
            <Node node={node} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Node({ node: { id, type, sign, changes } }: { node: ChangedNode }) {
  const t = useCodevTexts();
  return (
    <>
      <p className="flex flex-wrap items-baseline gap-x-2">
        {sign && <SignMark sign={sign} />}
        <span className="break-words font-medium">{id || t("whole_flow")}</span>
        {type && <span className="font-mono text-xs text-muted">{type}</span>}
      </p>
      {changes.length > 0 && (
        <ul className="mt-1 flex flex-col gap-1">
          {changes.map((change, at) => (
            <Value key={at} change={change} bare={change.sign === sign} />
          ))}
        </ul>
      )}
    </>
  );
}

/** A value of a node that was added was added with it: that needs no sign of its own. */
function Value({ change: { sign, name, text }, bare }: { change: Change; bare: boolean }) {
  return (
    <li className="flex items-baseline gap-2 pl-1">
      {bare || !sign ? <span aria-hidden className="w-4 shrink-0" /> : <SignMark sign={sign} />}
      <span className="min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere]">
        {name && <span className="mr-2 font-mono text-xs text-muted">{name}</span>}
        {text}
      </span>
    </li>
  );
}

function SignMark({ sign }: { sign: Sign }) {
  const t = useCodevTexts();
  return (
    <span
      className={cx(
        "inline-flex size-4 shrink-0 items-center justify-center rounded-sm border font-mono text-xs",
        LOOKS[sign],
      )}
    >
      <span aria-hidden>{sign.replace("-", "−")}</span>
      <span className="sr-only">{t(SAID[sign])} </span>
    </span>
  );
}
