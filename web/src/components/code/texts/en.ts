export default {
  leave: "Press Esc, then Tab, to leave the editor",
  problems_one: "{{count}} problem",
  problems_other: "{{count}} problems",
  line: "Line {{line}}: {{message}}",
};
