/** The content of a go.mod. */
export interface GoModule {
  /** The last part of the module's path that is not a version. */
  readonly name: string | undefined;
  /** The minimum version of Go. */
  readonly go: string | undefined;
  /** The version of Go to build with, if it is newer. */
  readonly toolchain: string | undefined;
  /** The modules that it requires directly. */
  readonly requires: readonly string[];
  /** Local folders that replace modules. */
  readonly replacements: readonly string[];
}

const MAX_LINES = 5_000;
const MAX_LINE = 500;
const VERSION = /^(?:go)?(\d{1,3}\.\d{1,3}(?:\.\d{1,3})?)$/;

/** Parses the text of a go.mod or go.work. */
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

/** Returns each directive as words; blocks in parentheses are expanded. */
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
