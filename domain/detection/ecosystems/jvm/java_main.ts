import { PLAIN_CLASS } from "./jvm.ts";
import type { ProjectFolder } from "../../project_folder.ts";

const SOURCES = ["src/main/java", "src/main/kotlin"];
const LIKELY = [
  /(?:^|\/)(?:\w*Application)\.(?:java|kt)$/,
  /(?:^|\/)Main\.(?:java|kt)$/,
  /(?:^|\/)App\.(?:java|kt)$/,
  /(?:^|\/)\w*Server\.(?:java|kt)$/,
];

/** The main class, by the usual names and paths of source files; `undefined` when none or several match. */
export function mainClassByName(folder: ProjectFolder): string | undefined {
  for (const likely of LIKELY) {
    const found = SOURCES.flatMap((source) =>
      folder
        .at(source)
        .files()
        .filter((path) => likely.test(path)),
    );
    if (found.length > 1) return undefined;
    if (found.length === 1) return classOf(found[0]!);
  }
  return undefined;
}

/** Returns whether a source file is named like the main class of a program. */
export function hasProgram(folder: ProjectFolder): boolean {
  return SOURCES.some((source) =>
    folder
      .at(source)
      .files()
      .some((path) => LIKELY.some((likely) => likely.test(path))),
  );
}

function classOf(path: string): string | undefined {
  const name = path
    .replace(/\.java$/, "")
    .replace(/\.kt$/, "Kt")
    .replaceAll("/", ".");
  return PLAIN_CLASS.test(name) ? name : undefined;
}
