export default {
  metadata: "Metadata",
  metadata_help:
    "One value a line: key = value. Numbers, true, false, dates such as 2026-01-31, and texts. Searches can be limited by them.",
  metadata_wrong: "Each line is a key without spaces, = and a value.",
  metadata_new: "Metadata of new documents",
  filters: "Filters",
  filter_key: "Metadata",
  filter_test: "Test",
  filter_value: "Value",
  filter_equals: "is",
  filter_in: "is one of",
  filter_at_least: "is at least",
  filter_at_most: "is at most",
  filter_exists: "exists",
  filter_missing: "is missing",
  filter_add: "Add filter",
  filter_remove: "Remove {{filter}}",
};
