import { ContractEditor } from "@/components/contract/ContractEditor";
import { usePolicyTexts } from "./texts";
import { usePolicy } from "./usePolicy";

/** What a step promises to take and to give. */
export function ContractFields({ nodeId }: { nodeId: string }) {
  const t = usePolicyTexts();
  const { policy, set, issue } = usePolicy(nodeId);
  return (
    <div className="flex flex-col gap-6">
      {(["output_contract", "input_contract"] as const).map((member) => {
        const error = issue(member);
        return (
          <section key={member} className="flex flex-col gap-1.5">
            <ContractEditor
              label={t(member)}
              contract={policy[member]}
              onChange={(contract) => set({ [member]: contract })}
            />
            <p className={error ? "text-bad text-xs" : "text-muted text-xs"}>{error ?? t(`${member}_about`)}</p>
          </section>
        );
      })}
    </div>
  );
}
