/** Of the list of all triggers, what comes up, and the canvas. */
export default {
  filter_text: "Search triggers and flows",
  filter_flow: "Flow",
  filter_kind: "Kind",
  filter_state: "State",
  filter_all_flows: "All flows",
  filter_all_kinds: "All kinds",
  filter_all_states: "All states",
  filter_none: "No matching triggers",
  filter_none_more: "No trigger matches the filter.",
  filter_clear: "Clear the filter",
  folded: "{{every}}, {{count}} times until {{until}}",
  words_minute: "Every minute",
  poll_look_back: "Rows that are read again",
  poll_look_back_help:
    "Of the last rows, at each poll: a transaction that ends late may add rows among them. 0 to 1,000.",
  start_title: "Trigger",
  start_more: "{{amount}} more",
  start_on: "On",
  start_off: "Off",
  start_failing: "Failing",
  start_unpublished: "Skipped until published",
};
