import { expect, test } from "bun:test";
import { LibraryManifestParser } from "../../adapters/manifests/manifest_parser.ts";
import { MemoryManifestParser } from "../../adapters/memory/manifest_parser.ts";
import { MANIFESTS, manifestParserContract } from "./manifest_parser.ts";

manifestParserContract(
  "memory",
  () => new MemoryManifestParser(new Map(MANIFESTS.map(([, text, says]) => [text, says]))),
);
manifestParserContract("libraries", () => new LibraryManifestParser());

test("parse() resolves no entity of an XML file", () => {
  const text = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><project><name>&e;</name></project>';
  const said = new LibraryManifestParser().parse("pom.xml", text) ?? null;
  expect(JSON.stringify(said)).not.toContain("root:");
});
