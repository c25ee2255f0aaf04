import { useState } from "react";
import { useDraft } from "@/lib/draft";
import { nodeName } from "@/lib/nodeName";
import { fit, portsOf } from "@/lib/ports";
import { link } from "../actions/nodes";
import { focusNode } from "../actions/walking";
import { canConnect } from "../model/compatibility";
import { searched } from "../model/search";
import { type Stage, useStage } from "../model/stage";
import { useView } from "../model/view";
import { Floating } from "./Floating";
import { type Choice, Picker } from "./Picker";

/** Connect without a pointer: choose an output, then one of the inputs that take it. */
export function ConnectMenu() {
  const from = useView((state) => state.connectingFrom);
  return from ? <Open key={from} from={from} /> : null;
}

function Open({ from }: { from: string }) {
  const stage = useStage();
  const t = stage.t;
  const node = useDraft((state) => state.document.nodes[from]);
  const template = useDraft((state) => state.templates[node?.type ?? ""]);
  const outputs = node ? portsOf(node, template).outputs : [];
  const [output, setOutput] = useState<string | null>(outputs.length === 1 ? (outputs[0]?.name ?? null) : null);
  const close = () => useView.getState().set({ connectingFrom: null });
  const connect = (choice: string) => {
    const [target = "", input = ""] = choice.split(" ");
    close();
    stage.store
      .getState()
      .change({ label: t("did_connect") }, (draft) =>
        link(draft, stage, { source: from, output: output ?? "", target, input }),
      );
    setTimeout(() => focusNode(stage, from), 0);
  };
  const title = output ? t("choose_input") : t("choose_output");
  const found = output
    ? inputsFor(stage, from, output)
    : outputs.map((one) => ({ id: one.name, label: one.label, hint: one.type ?? "" }));
  return (
    <Floating title={title} at={null} onClose={close}>
      <Picker
        key={title}
        label={title}
        placeholder={title}
        none={output ? t("no_input") : t("no_output")}
        choices={(query) => searched(query, found, (one) => [one.label, one.hint ?? "", ""])}
        onChoose={output ? connect : setOutput}
      />
    </Floating>
  );
}

function inputsFor(stage: Stage, source: string, output: string): Choice[] {
  const { document, templates } = stage.store.getState();
  const node = document.nodes[source];
  const type = node && portsOf(node, templates[node.type]).outputs.find((one) => one.name === output)?.type;
  if (!type) return [];
  const names = document.order.flatMap((id) => (document.nodes[id] ? [nodeName(document.nodes[id], templates)] : []));
  const alone = (name: string) => names.indexOf(name) === names.lastIndexOf(name);
  return document.order.flatMap((id) => {
    const target = document.nodes[id];
    if (!target || id === source) return [];
    const name = nodeName(target, templates);
    return portsOf(target, templates[target.type])
      .inputs.filter((one) => fit(type, one.types))
      .filter((one) => canConnect(document, templates, { source, output, target: id, input: one.name }))
      .map((one) => ({
        id: `${id} ${one.name}`,
        label: `${name}: ${one.label}`,
        hint: [...(alone(name) ? [] : [id]), one.types.join(", ")].join(" · "),
      }));
  });
}
