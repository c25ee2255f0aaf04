/** What a dry run says of the flows that steps run. */
export default {
  ahead_call: "Runs {{name}}, version {{version}}: {{often}}.",
  ahead_once: "once",
  ahead_rounds_one: "{{count}} round",
  ahead_rounds_other: "up to {{count}} rounds",
  ahead_per_round: "each round",
  ahead_items_one: "{{count}} item",
  ahead_items_other: "{{count}} items",
  ahead_per_item: "per item",
  ahead_per_call: "each time the model calls the tool",
  ahead_call_cost: "Each run at least {{cost}} for {{tokens}} tokens",
  ahead_shown_above: "Its steps are shown above.",
  ahead_call_cycle: "It leads back to a flow that runs it: {{trail}}",
  ahead_call_depth: "Its flows run others too deep.",
  ahead_call_unavailable: "It is not published, or you may not run it.",
  ahead_call_limit: "Too many flows to show. Start a dry run of this flow to see it.",
};
