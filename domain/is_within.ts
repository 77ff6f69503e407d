/** Returns whether a path is the folder or lies inside it; both absolute, without `.`, `..` and trailing slash. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}
