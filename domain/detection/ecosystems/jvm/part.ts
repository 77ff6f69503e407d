/** Usual names of the parts of a build that are started. */
const PREFERRED = ["app", "application", "server", "backend", "web", "api", "service", "boot", "main"];

/** The part of a build to start, and the warnings about the choice. */
export interface ChosenPart<Part> {
  readonly chosen?: Part;
  readonly warnings: readonly string[];
}

/**
 * Picks the part to start among those that build a program: the root, the only one, or the one with the likeliest name.
 * `parts` is the build tool's word for them.
 */
export function likeliestPart<Part extends { readonly path: string }>(
  programs: readonly Part[],
  parts: string,
): ChosenPart<Part> {
  const first = programs.find(({ path }) => path === "") ?? programs[0];
  if (first === undefined) return { warnings: [] };
  if (first.path === "" || programs.length === 1) return { chosen: first, warnings: [] };
  const named = (name: string) => programs.find(({ path }) => path.split(/[/-]/).at(-1) === name);
  const chosen = PREFERRED.map(named).find((part) => part !== undefined) ?? first;
  const all = programs.slice(0, 10).map(({ path }) => path);
  return {
    chosen,
    warnings: [
      `Cannot be sure what to start: the ${parts} ${all.join(", ")} make programs. ${chosen.path} is used; set the commands for another`,
    ],
  };
}
