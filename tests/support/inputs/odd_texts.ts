/** Texts that break faulty quoting, splitting or interpolation. */
export const oddTexts: readonly string[] = [
  `O'Brien said "no" \`twice\``,
  "back\\slash \\' \\n \\u0000 \\x00",
  "'; DROP TABLE users; --",
  "100% _sure_ [a-z] .* ?",
  "$1 $$ ${HOME} $(id) {{x}}",
  "日本語 café cafe\u0301 🚀 👩‍👩‍👧 ﬁ İ ß",
  "\u202Eright to left\u202C \u2028 \uFEFF",
  "line\nbreak\ttab\r\nand more ",
  " \t space around \n",
  "null",
  '{"json":["yes",null]}',
  "v1.0123456789ab.AAAA.BBBB",
  "<script>alert(1)</script> &amp; %41",
  "x".repeat(200),
];
