export default {
  leave: "Esc, then Tab, leaves the editor",
  problems_one: "{{count}} problem",
  problems_other: "{{count}} problems",
  line: "Line {{line}}: {{message}}",
};
