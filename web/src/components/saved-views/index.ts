export * from "./SavedViews";
