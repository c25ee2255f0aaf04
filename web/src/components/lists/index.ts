export * from "./FilterBar";
export * from "./SelectionBar";
export * from "./useListKeys";
export * from "./useSelection";
