import { type JsonObject, memberOf, objectOf, textOf } from "../../text/json_text.ts";
import type { ProjectFolder } from "../../project_folder.ts";

/** A Cargo package, as far as needed to choose what to run. */
export interface RustPackage {
  /** Its folder, relative to the inspected one; `""` for that folder itself. */
  readonly path: string;
  readonly manifest: JsonObject;
  /** Its programs with names that are safe in a command; the default one comes first. */
  readonly programs: readonly string[];
  /**
   * Whether the first program is certainly the right one: named by `default-run`, the only one, or named like the
   * package.
   */
  readonly isSure: boolean;
}

const PLAIN = /^[A-Za-z0-9_][\w-]{0,99}$/;
const PREFERRED = ["server", "api", "web", "app", "backend"];
const BELOW_BIN = /^src\/bin\/([^/]+?)(?:\.rs|\/main\.rs)$/;

/**
 * Reads the package in a folder; `undefined` when there is none, as at the root of a workspace without a package of its
 * own.
 */
export function rustPackage(whole: ProjectFolder, path: string): RustPackage | undefined {
  const folder = path === "" ? whole : whole.at(path);
  const manifest = objectOf(folder.data("Cargo.toml"));
  const described = memberOf(manifest, "package");
  if (manifest === undefined || described === undefined) return undefined;
  const own = textOf(described, "name") ?? "";
  const names = programsIn(folder, manifest, own).filter((name) => PLAIN.test(name));
  const sure = [textOf(described, "default-run"), own].find((name) => name !== undefined && names.includes(name));
  const first = sure ?? PREFERRED.find((name) => names.includes(name)) ?? names[0];
  const programs = first === undefined ? [] : [first, ...names.filter((name) => name !== first)];
  return { path, manifest, programs, isSure: sure !== undefined || names.length <= 1 };
}

function programsIn(folder: ProjectFolder, manifest: JsonObject, own: string): string[] {
  const bins: readonly unknown[] = Array.isArray(manifest["bin"]) ? manifest["bin"] : [];
  const declared = bins.map(objectOf).filter((bin) => bin !== undefined);
  const named = declared.flatMap((bin) => textOf(bin, "name") ?? []);
  if (memberOf(manifest, "package")?.["autobins"] === false) return named;
  const paths = new Set(declared.map((bin) => textOf(bin, "path")?.replace(/^\.\//, "")));
  const found = folder
    .at("src/bin")
    .files()
    .flatMap((path) => (paths.has(`src/bin/${path}`) ? [] : (BELOW_BIN.exec(`src/bin/${path}`)?.[1] ?? [])));
  const main = folder.has("src/main.rs") && !paths.has("src/main.rs") ? [own] : [];
  return [...new Set([...main, ...named, ...found])];
}

/** The folders of a workspace's members that its Cargo.toml names and that exist. */
export function workspaceMembers(folder: ProjectFolder, key: "members" | "default-members" = "members"): string[] {
  const workspace = memberOf(objectOf(folder.data("Cargo.toml")), "workspace");
  const listed = (name: string) => {
    const list = workspace?.[name];
    return Array.isArray(list) ? list.filter((pattern) => typeof pattern === "string") : [];
  };
  const [patterns, excluded] = [listed(key), listed("exclude")];
  if (patterns.length === 0) return [];
  return folder
    .files()
    .flatMap((path) => (path.endsWith("/Cargo.toml") ? [path.slice(0, -"/Cargo.toml".length)] : []))
    .filter((path) => patterns.some((pattern) => fits(path, pattern)) && !excluded.includes(path));
}

/** Matches segment by segment, with one star in each: more could take very long on hostile patterns. */
function fits(path: string, pattern: string): boolean {
  const parts = path.split("/");
  const wanted = pattern.replace(/^\.\//, "").replace(/\/$/, "").split("/");
  return (
    parts.length === wanted.length &&
    parts.every((part, index) => {
      const [before = "", after] = wanted[index]!.split("*", 2);
      if (after === undefined) return part === before;
      return part.length >= before.length + after.length && part.startsWith(before) && part.endsWith(after);
    })
  );
}
