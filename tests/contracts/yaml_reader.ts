import { describe, expect, test } from "bun:test";
import type { YamlNode, YamlReader, YamlReading } from "../../ports/projects/yaml_reader.ts";

const scalar = (line: number, value: string | number | boolean | null, text = String(value ?? "")): YamlNode => ({
  line,
  value: { kind: "scalar", scalar: value, text },
});
const list = (line: number, ...items: readonly YamlNode[]): YamlNode => ({ line, value: { kind: "list", items } });
const map = (
  line: number,
  ...entries: readonly (readonly [key: string, line: number, node: YamlNode])[]
): YamlNode => ({
  line,
  value: { kind: "map", entries: entries.map(([key, at, node]) => ({ key, line: at, node })) },
});

/** Texts with their parsed values. */
export const YAML_TEXTS: readonly (readonly [what: string, text: string, reading: YamlReading])[] = [
  ["an empty text", "", { root: scalar(1, null) }],
  [
    "JSON",
    '{"a": [1, "x", true, null]}',
    { root: map(1, ["a", 1, list(1, scalar(1, 1), scalar(1, "x"), scalar(1, true), scalar(1, null, "null"))]) },
  ],
  [
    "maps and lists with their lines",
    "# first\na: 1\nb:\n  - x\n  - c: 2\n",
    { root: map(2, ["a", 2, scalar(2, 1)], ["b", 3, list(4, scalar(4, "x"), map(5, ["c", 5, scalar(5, 2)]))]) },
  ],
  [
    "values with the meaning of YAML 1.2",
    'a: no\nb: 0440\nc: 1.20\nd: ~\ne: 22:22\nf: "1"\ng: Yes\nh:\n',
    {
      root: map(
        1,
        ["a", 1, scalar(1, "no")],
        ["b", 2, scalar(2, 440, "0440")],
        ["c", 3, scalar(3, 1.2, "1.20")],
        ["d", 4, scalar(4, null, "~")],
        ["e", 5, scalar(5, "22:22")],
        ["f", 6, scalar(6, "1")],
        ["g", 7, scalar(7, "Yes")],
        ["h", 8, scalar(8, null)],
      ),
    },
  ],
  [
    "anchors, aliases and merge keys, with explicit keys taking precedence",
    "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc:\n  <<: [*a, *b]\n  x: 3\nd: *a\ne:\n  !!merge <<: *b\n",
    {
      root: map(
        1,
        ["a", 1, map(1, ["x", 1, scalar(1, 1)], ["y", 1, scalar(1, 1)])],
        ["b", 2, map(2, ["y", 2, scalar(2, 2)], ["z", 2, scalar(2, 2)])],
        ["c", 3, map(4, ["x", 5, scalar(5, 3)], ["y", 1, scalar(1, 1)], ["z", 2, scalar(2, 2)])],
        ["d", 6, map(1, ["x", 1, scalar(1, 1)], ["y", 1, scalar(1, 1)])],
        ["e", 7, map(8, ["y", 2, scalar(2, 2)], ["z", 2, scalar(2, 2)])],
      ),
    },
  ],
  [
    "an anchor that is redefined",
    "a: &x 1\nb: *x\nc: &x 2\nd: *x\n",
    { root: map(1, ["a", 1, scalar(1, 1)], ["b", 2, scalar(1, 1)], ["c", 3, scalar(3, 2)], ["d", 4, scalar(3, 2)]) },
  ],
  [
    "custom tags",
    "a: !reset null\nb: !override [1]\nc: !!str 1\n",
    {
      root: map(
        1,
        ["a", 1, { ...scalar(1, "null"), tag: "!reset" }],
        ["b", 2, { ...list(2, scalar(2, 1)), tag: "!override" }],
        ["c", 3, scalar(3, "1")],
      ),
    },
  ],
  [
    "keys that are not strings",
    "1: a\ntrue: b\n",
    { root: map(1, ["1", 1, scalar(1, "a")], ["true", 2, scalar(2, "b")]) },
  ],
];

const many = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at)).join("\n");
const MUCH = 120_000;

/** Texts that cost a naive parser much time, memory or stack. */
export const HOSTILE_TEXTS: Readonly<Record<string, string>> = {
  "lists in lists": "[".repeat(MUCH),
  "flow lists in lists": `${"[".repeat(MUCH / 2)}${"]".repeat(MUCH / 2)}`,
  "maps in maps": `${"{a: ".repeat(5_000)}1${"}".repeat(5_000)}`,
  "values in values": "a: ".repeat(MUCH / 3),
  "dashes after dashes": "- ".repeat(MUCH / 2),
  "questions after questions": "? ".repeat(MUCH / 2),
  "deep indents": many(450, (at) => `${" ".repeat(at)}a:`),
  "aliases of aliases": many(
    20,
    (at) => `a${at}: &a${at} [${at === 0 ? "x" : `*a${at - 1}, *a${at - 1}, *a${at - 1}`}]`,
  ),
  "merged maps of merged maps": many(
    200,
    (at) => `m${at}: &m${at} {k${at}: 1${at === 0 ? "" : `, <<: *m${at - 1}`}, l: {<<: {x${at}: 1}}}`,
  ),
  "one map merged often": `a: &a {${many(1_000, (at) => `k${at}: 1,`).replaceAll("\n", "")}}\n${many(4_000, (at) => `b${at}: {<<: *a}`)}`,
  "an alias to itself": "a: &a [*a]",
  "many aliases": `- &a x\n${"- *a\n".repeat(MUCH / 5)}`,
  "many anchors": many(9_000, (at) => `- &a${at} x`),
  "anchors without values": "&a ".repeat(MUCH / 3),
  "tags without values": "!a ".repeat(MUCH / 3),
  "one long tag": `!${"x".repeat(MUCH)}`,
  "many keys": many(12_000, (at) => `k${at}: 1`),
  "many keys in braces": `{${many(12_000, (at) => `k${at}: 1,`)}}`,
  "one key repeated": "a: 1\n".repeat(MUCH / 5),
  "empty lists side by side": "[]".repeat(MUCH / 2),
  commas: `[${",".repeat(MUCH)}`,
  comments: "#\n".repeat(MUCH / 2),
  "comments in a list": `[\n${"#c\n".repeat(MUCH / 3)}]`,
  "empty lines": "\n".repeat(MUCH),
  tabs: "\t".repeat(MUCH),
  documents: "---\n".repeat(MUCH / 4),
  directives: "%YAML 1.2\n".repeat(MUCH / 10),
  "one long word": `a: ${"x".repeat(MUCH)}`,
  "one long text of many lines": `a: x\n${"  y\n".repeat(MUCH / 4)}`,
  "one long quoted text": `a: "${"\\n".repeat(MUCH / 2)}"`,
  "a quote that is never closed": `a: "${"x\n".repeat(MUCH / 2)}`,
  "one long number": `a: ${"9".repeat(MUCH)}`,
  zeros: "\0".repeat(MUCH),
  "surrogate halves": "\uD800".repeat(MUCH / 2),
  "a megabyte": "a: 1\n".repeat(200_000),
};

/** Contract tests for YAML readers. Each one may have further tests. */
export function yamlReaderContract(name: string, open: () => YamlReader): void {
  describe(`YamlReader: ${name}`, () => {
    for (const [what, text, reading] of YAML_TEXTS) {
      test(`read() reads ${what}`, async () => expect(await open().read(text)).toEqual(reading));
    }

    for (const text of ["a: [", "a: 1\n b: 2\n", '{"a": ']) {
      test(`read() names the line of the error in ${JSON.stringify(text)}`, async () => {
        const reading = await open().read(text);
        if (!("problem" in reading)) throw new Error("The text was accepted");
        expect(reading.problem.line).toBeGreaterThanOrEqual(1);
        expect(reading.problem.message).toStartWith("Cannot read");
      });
    }

    for (const [what, text] of Object.entries(HOSTILE_TEXTS)) {
      test(`read() ends with a result of bounded size for ${what}`, async () => {
        const reading = await open().read(text);
        if ("root" in reading) expect(sizeOf(reading.root)).toBeLessThanOrEqual(20_000);
        else expect(reading.problem.message.length).toBeLessThan(200);
      });
    }
  });
}

/** The number of values, where the values of an alias count at every use. */
function sizeOf({ value }: YamlNode): number {
  if (value.kind === "scalar") return 1;
  const inner = value.kind === "list" ? value.items : value.entries.map(({ node }) => node);
  return inner.reduce((sum, node) => sum + sizeOf(node), 1);
}
