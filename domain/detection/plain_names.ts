const PATH = /^[A-Za-z0-9_@.][A-Za-z0-9_@./-]*$/;
const PACKAGE = /^(?:@[a-z0-9_][a-z0-9._-]*\/)?[a-z0-9_][a-z0-9._-]*$/i;

/** Tells whether a path stays inside of its folder and may stand in a command without quotes. */
export function isPlainPath(path: string): boolean {
  return path.length <= 500 && PATH.test(path) && !path.split("/").some((part) => part === ".." || part === "");
}

/** A path that a project names, in plain form: inside of its folder, without `./` before it and `/` after it; `undefined` for any other. */
export function plainPath(named: string | undefined): string | undefined {
  const path =
    named
      ?.slice(0, 600)
      .replace(/^(?:\.\/)+/, "")
      .replace(/\/+$/, "") ?? "";
  return isPlainPath(path) && path !== "." ? path : undefined;
}

/** The name of an npm package, when it may stand in a command without quotes. */
export function plainPackage(name: string | undefined): string | undefined {
  return name !== undefined && name.length <= 214 && PACKAGE.test(name) ? name : undefined;
}
