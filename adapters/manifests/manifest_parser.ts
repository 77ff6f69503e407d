import { YAML } from "bun";
import { XMLParser } from "fast-xml-parser";
import { parse as parseToml } from "smol-toml";
import { commentedJsonObject } from "../../domain/detection/text/json_text.ts";
import type { ManifestParser } from "../../ports/projects/manifest_parser.ts";

const XML = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  processEntities: false,
  parseTagValue: false,
});
/** Hand-written manifests are far smaller. Lock files are never parsed here. */
const MAX_LENGTH = 1_048_576;

type Parse = (text: string) => unknown;

const BY_ENDING: Readonly<Record<string, Parse>> = {
  json: commentedJsonObject,
  jsonc: commentedJsonObject,
  toml: parseToml,
  yaml: readYaml,
  yml: readYaml,
  xml: (text) => XML.parse(text),
  csproj: (text) => XML.parse(text),
  fsproj: (text) => XML.parse(text),
  vbproj: (text) => XML.parse(text),
  props: (text) => XML.parse(text),
};

/** Names of TOML files without the extension. */
const TOML_NAMES = new Set(["Pipfile", "rust-toolchain"]);

/** Parses manifests with a library for each format. Returns `undefined` for what it cannot parse. */
export class LibraryManifestParser implements ManifestParser {
  parse(path: string, text: string): unknown {
    const name = path.slice(path.lastIndexOf("/") + 1);
    const parse = TOML_NAMES.has(name) ? parseToml : BY_ENDING[name.slice(name.lastIndexOf(".") + 1)];
    if (parse === undefined || text.length > MAX_LENGTH) return undefined;
    try {
      return parse(text.replace(/^\uFEFF/, ""));
    } catch {
      return undefined;
    }
  }
}

function readYaml(text: string): unknown {
  // Parses the first document only, because the following ones are separate files to their authors. Bun's parser is
  // linear where others take minutes for a megabyte.
  return YAML.parse(text.split(/^---[ \t]*$/m).find((part) => part.trim() !== "") ?? "");
}
