import { expect, test } from "bun:test";
import { MemoryYamlReader } from "../../adapters/memory/yaml_reader.ts";
import { LibraryYamlReader } from "../../adapters/yaml/library_yaml_reader.ts";
import { YAML_TEXTS, yamlReaderContract } from "../contracts/yaml_reader.ts";
import { patientYamlReader } from "../support/faults/patient_yaml_reader.ts";

yamlReaderContract("memory", () => new MemoryYamlReader(new Map(YAML_TEXTS.map(([, text, says]) => [text, says]))));
yamlReaderContract("library", () => patientYamlReader());

for (const [what, text, line, word] of [
  ["a repeated key", "a: 1\nb: 2\na: 3\n", 3, '"a" is there twice'],
  ["two merge keys in one map", "x: &x {a: 1}\ny:\n  <<: *x\n  <<: *x\n", 4, "twice"],
  ["a second document", "a: 1\n---\nb: 2\n", 2, "more than one document"],
  ["an alias without an anchor", "a: 1\nb: *nothing\n", 2, "no anchor &nothing"],
  ["an alias inside its own anchor", "a: &a\n  - *a\n", 2, "inside the value that it repeats"],
  ["a merge of a value that is not a map", "a:\n  <<: text\n", 2, '"<<" takes a map'],
  ["a key that is a list", "a: 1\n? [x]\n: 2\n", 2, "a key has to be a text"],
  ["a tab before a key", "a:\n\tb: 1\n", 2, "a tab"],
  ["a line too far left", "a:\n    b: 1\n  c: 2\n", 3, "indented too little or too much"],
  ["values that are nested too deeply", `${"[".repeat(200)}${"]".repeat(200)}`, 1, "lists and maps are nested"],
] as const) {
  test(`read() reports the position of ${what}`, async () => {
    const reading = await patientYamlReader().read(text);
    expect(reading).toEqual({ problem: { line, message: expect.stringContaining(word) } });
  });
}

test("read() shows no value in a problem", async () => {
  for (const text of [
    'a: "hush\\q"',
    "hush: hush: hush",
    "a: 'hush",
    "a: hush\n b: 1",
    "a: @hush",
    "- hush\nhush",
    "%hush",
  ]) {
    const reading = await patientYamlReader().read(text);
    expect(JSON.stringify("problem" in reading ? reading.problem : "")).not.toContain("hush");
  }
});

test("read() reads a long text like a short one", async () => {
  const text = `a: &a [1, {b: "x"}]\nc: *a\n`;
  const long = await patientYamlReader().read(`${text}${"# a comment\n".repeat(1_000)}`);
  expect(long).toEqual(await patientYamlReader().read(text));
});

test("read() does not block the thread while it reads a long text", async () => {
  const reading = patientYamlReader()
    .read("[]".repeat(60_000))
    .then(() => "read");
  // If the text were parsed in this thread, the timer would fire only afterwards.
  const other = new Promise((resolve) => setTimeout(() => resolve("other"), 0));
  expect(await Promise.race([reading, other])).toBe("other");
  await reading;
});

test("read() gives up on a text that takes too long", async () => {
  // Less than the parser needs to start.
  const reading = await new LibraryYamlReader({ limitMs: 0 }).read("# a comment\n".repeat(1_000));
  expect(reading).toEqual({
    problem: { line: 1, message: "Cannot read this: it takes too long. Simplify it" },
  });
});
