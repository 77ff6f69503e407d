const PATH = /^[A-Za-z0-9_@.][A-Za-z0-9_@./-]*$/;
const PACKAGE = /^(?:@[a-z0-9_][a-z0-9._-]*\/)?[a-z0-9_][a-z0-9._-]*$/i;

/** Returns whether a path stays inside its folder and needs no quotes in a command. */
export function isPlainPath(path: string): boolean {
  return path.length <= 500 && PATH.test(path) && !path.split("/").some((part) => part === ".." || part === "");
}

/**
 * Normalizes a path that a project names: inside its folder, without a leading `./` or trailing `/`; `undefined` for
 * any other.
 */
export function plainPath(named: string | undefined): string | undefined {
  const path =
    named
      ?.slice(0, 600)
      .replace(/^(?:\.\/)+/, "")
      .replace(/\/+$/, "") ?? "";
  return isPlainPath(path) && path !== "." ? path : undefined;
}

/** Returns the name of an npm package if it needs no quotes in a command. */
export function plainPackage(name: string | undefined): string | undefined {
  return name !== undefined && name.length <= 214 && PACKAGE.test(name) ? name : undefined;
}
