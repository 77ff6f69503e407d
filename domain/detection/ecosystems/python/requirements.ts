import { type JsonObject, memberOf, objectOf } from "../../text/json_text.ts";
import type { ProjectFolder } from "../../project_folder.ts";

/** Files of pip's own form; the first one that exists is installed. */
export const REQUIREMENT_FILES = [
  "requirements.txt",
  "requirements/production.txt",
  "requirements/prod.txt",
  "requirements/base.txt",
] as const;

/** Names of the files that `requirementsOf` reads. */
export const REQUIREMENT_MANIFESTS = [
  "pyproject.toml",
  "Pipfile",
  "setup.py",
  "setup.cfg",
  "production.txt",
  "prod.txt",
  "base.txt",
  "common.txt",
  /^(?:requirements|constraints)[\w.-]*\.txt$/,
];

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}/;
const EXTRAS = /^\s{0,9}\[([\w\s,.-]{0,200})\]/;
const INCLUDED = /^(?:-r|--requirement|-c|--constraint)[ =]?\s{0,9}([\w./-]{1,200})/;
const QUOTED = /["']([A-Za-z0-9][A-Za-z0-9._-]{0,99}(?:\[[\w,-]{0,99}\])?)/g;
const FOLDER = /^(?:-e|--editable)?[ =]{0,9}(?:\.{1,2}(?:[/[]|$)|\/)/;
const MAX_FILES = 20;
/** More than people write. */
const MAX_LENGTH = 100_000;

/** The packages that a Python project asks for directly. */
export interface Requirements {
  /** Tells whether a package is among them, by any spelling of its name. */
  has(name: string): boolean;
  /** Tells whether one of them comes with an extra, as `fastapi[standard]` does. */
  hasExtra(name: string, extra: string): boolean;
  /** The requirement file that is installed, and those it includes. */
  readonly files: readonly string[];
  /** Whether some of them are taken from repositories or folders, not from an index. */
  readonly fromGit: boolean;
  readonly fromFolders: boolean;
}

/** Reads what a project requires, wherever it says so; the tools of its developers are left out. */
export function requirementsOf(folder: ProjectFolder): Requirements {
  const lines = requirementLines(folder);
  const declared = [...lines.texts, ...projectTexts(folder), ...setupTexts(folder)];
  const extras = new Map<string, string>();
  for (const text of declared) {
    const name = NAME.exec(text)?.[0];
    if (name === undefined) continue;
    const extra = EXTRAS.exec(text.slice(name.length))?.[1] ?? "";
    extras.set(plain(name), `${extras.get(plain(name)) ?? ""},${extra}`);
  }
  return {
    has: (name) => extras.has(plain(name)),
    hasExtra: (name, extra) =>
      (extras.get(plain(name)) ?? "").split(",").some((one) => one.trim().toLowerCase() === extra),
    files: lines.files,
    fromGit: declared.some((text) => text.includes("git+")),
    fromFolders: lines.texts.some((text) => FOLDER.test(text)),
  };
}

/** Names are the same however letters are cased and parts divided. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[._-]+/g, "-");
}

function requirementLines(folder: ProjectFolder): { readonly texts: string[]; readonly files: string[] } {
  const first = folder.first(REQUIREMENT_FILES);
  const files = first === undefined ? [] : [first];
  const texts: string[] = [];
  for (let at = 0; at < files.length; at++) {
    const inside = files[at]!.slice(0, files[at]!.lastIndexOf("/") + 1);
    for (const line of (folder.text(files[at]!) ?? "").slice(0, MAX_LENGTH).split(/\r?\n/)) {
      const text = line.trim();
      const included = INCLUDED.exec(text)?.[1]?.replace(/^(?:\.\/)+/, "");
      if (included === undefined) texts.push(text);
      else if (folder.has(inside + included) && !files.includes(inside + included) && files.length < MAX_FILES) {
        files.push(inside + included);
      }
    }
  }
  return { texts, files };
}

/** What pyproject.toml and Pipfile require, each as `name[extras]`. */
function projectTexts(folder: ProjectFolder): string[] {
  const project = objectOf(folder.data("pyproject.toml"));
  const poetry = memberOf(memberOf(project, "tool"), "poetry");
  const standard = memberOf(project, "project")?.["dependencies"];
  return [
    ...(Array.isArray(standard) ? standard.filter((text) => typeof text === "string") : []),
    ...tableTexts(memberOf(poetry, "dependencies")),
    ...tableTexts(memberOf(objectOf(folder.data("Pipfile")), "packages")),
  ];
}

function tableTexts(table: JsonObject | undefined): string[] {
  return Object.entries(table ?? {}).map(([name, requirement]) => {
    const extras = objectOf(requirement)?.["extras"];
    const from = objectOf(requirement)?.["git"] === undefined ? "" : " @ git+";
    return `${name}[${Array.isArray(extras) ? extras.join(",") : ""}]${from}`;
  });
}

/** Programs and ini files are not read as such: what is quoted or stands alone on a line may be a requirement. */
function setupTexts(folder: ProjectFolder): string[] {
  const quoted = Array.from(
    (folder.text("setup.py") ?? "").slice(0, MAX_LENGTH).matchAll(QUOTED),
    (match) => match[1]!,
  );
  const listed = (folder.text("setup.cfg") ?? "")
    .slice(0, MAX_LENGTH)
    .split(/\r?\n/)
    .flatMap((line) => (/^\s/.test(line) ? [line.trim()] : []));
  return [...quoted, ...listed];
}
