import { expect, test } from "bun:test";
import { LibraryManifestParser } from "../../../adapters/manifests/manifest_parser.ts";
import { MemoryManifestParser } from "../../../adapters/memory/manifest_parser.ts";
import { MANIFESTS, manifestParserContract } from "../../contracts/manifest_parser.ts";

manifestParserContract(
  "memory",
  () => new MemoryManifestParser(new Map(MANIFESTS.map(([, text, says]) => [text, says]))),
);
manifestParserContract("libraries", () => new LibraryManifestParser());

test("parse() resolves no entity of an XML file", () => {
  const text = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><project><name>&e;</name></project>';
  const parsed = new LibraryManifestParser().parse("pom.xml", text) ?? null;
  expect(JSON.stringify(parsed)).not.toContain("root:");
});

for (const [what, text] of [
  ["keys", `services:\n${Array.from({ length: 100_000 }, (_, at) => `  a${at}:\n`).join("")}`],
  ["repeated keys", `services:\n${"  a:\n".repeat(200_000)}`],
  ["anchors", "&a ".repeat(300_000)],
  ["values in values", "a: ".repeat(300_000)],
  ["lists in lists", "- ".repeat(500_000)],
] as const) {
  // Quadratic time would take minutes here, far beyond the timeout of any test.
  test(`parse() handles a megabyte of YAML that is ${what}`, () => {
    const parsed = new LibraryManifestParser().parse("compose.yaml", text);
    expect(["object", "undefined"]).toContain(typeof parsed);
  });
}
