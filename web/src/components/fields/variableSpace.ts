import { createContext, useContext } from "react";
import { useFlowSpace } from "@/lib/draft";

/** The space whose variables are offered where no flow is open. */
export const VariableSpace = createContext<string | null>(null);

export function useVariableSpace(): string {
  const flow = useFlowSpace();
  return useContext(VariableSpace) ?? flow ?? "";
}
