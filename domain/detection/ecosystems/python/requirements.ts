import { type JsonObject, memberOf, objectOf } from "../../text/json_text.ts";
import type { ProjectFolder } from "../../project_folder.ts";

/** Requirement files of pip; the first one that exists is installed. */
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
/** Longer than any hand-written file. */
const MAX_LENGTH = 100_000;

/** The direct requirements of a Python project. */
export interface Requirements {
  /** Returns whether a package is required, in any spelling of its name. */
  has(name: string): boolean;
  /** Returns whether a package is required with an extra, as in `fastapi[standard]`. */
  hasExtra(name: string, extra: string): boolean;
  /** The requirement file that is installed, and those that it includes. */
  readonly files: readonly string[];
  /** Whether some come from Git repositories or local folders, and not from an index. */
  readonly fromGit: boolean;
  readonly fromFolders: boolean;
}

/** Reads the requirements of a project from all files that declare them; development tools are left out. */
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

/** Normalizes the name of a package, in which case and separators do not matter. */
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

/** The requirements in pyproject.toml and Pipfile, each as `name[extras]`. */
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

/** Does not parse setup.py and setup.cfg: any quoted word or indented line may be a requirement. */
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
