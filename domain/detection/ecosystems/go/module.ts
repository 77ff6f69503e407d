/** What a go.mod says. */
export interface GoModule {
  /** The last part of the module's path that is no version. */
  readonly name: string | undefined;
  /** The lowest version of Go that it takes. */
  readonly go: string | undefined;
  /** The version of Go that it is built with, when that is a newer one. */
  readonly toolchain: string | undefined;
  /** Modules that it requires itself. */
  readonly requires: readonly string[];
  /** Folders that stand in for modules. */
  readonly replacements: readonly string[];
}

const MAX_LINES = 5_000;
const MAX_LINE = 500;
const VERSION = /^(?:go)?(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)$/;

/** Reads the text of a go.mod or go.work. */
export function goModule(text: string): GoModule {
  const all = directives(text);
  const valueOf = (word: string) => all.find(([name]) => name === word)?.[1];
  const versionOf = (word: string) => VERSION.exec(valueOf(word) ?? "")?.[1];
  const path = valueOf("module")?.split("/") ?? [];
  const last = /^v\d+$/.test(path.at(-1) ?? "") ? path.at(-2) : path.at(-1);
  return {
    name: last,
    go: versionOf("go"),
    toolchain: versionOf("toolchain"),
    requires: all.flatMap(([name, first, ...rest]) =>
      name === "require" && first !== undefined && !rest.includes("indirect") ? [first] : [],
    ),
    replacements: all.flatMap(([name, ...rest]) => {
      const target = name === "replace" ? rest[rest.indexOf("=>") + 1] : undefined;
      return target?.startsWith(".") ? [target] : [];
    }),
  };
}

/** The folders that a go.work uses, relative to it. */
export function goWorkspace(text: string): string[] {
  return directives(text).flatMap(([name, folder]) =>
    name === "use" && folder !== undefined ? [folder.replace(/^\.\//, "").replace(/\/$/, "")] : [],
  );
}

/** Every directive as its words, with those in brackets written out. */
function directives(text: string): (readonly [string, ...string[]])[] {
  const found: (readonly [string, ...string[]])[] = [];
  let block: string | undefined;
  for (const line of text.split("\n", MAX_LINES)) {
    const words = line
      .slice(0, MAX_LINE)
      .split(/\s+/)
      .map((word) => word.replace(/^"(.*)"$/, "$1"))
      .filter((word) => word !== "");
    const [first] = words;
    if (first === undefined || first.startsWith("//")) continue;
    if (block === undefined && words[1] === "(") block = first;
    else if (first === ")") block = undefined;
    else if (block === undefined) found.push([first, ...words.slice(1)]);
    else found.push([block, ...words]);
  }
  return found;
}
