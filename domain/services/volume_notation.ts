import { normalPath } from "./normal_path.ts";
import type { Notation } from "./notation.ts";
import type { ServiceMount } from "./service_spec.ts";

const VOLUME_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$/;
const FORMS = 'give a volume as in "data:/var/lib/data", "./config:/etc/app:ro" or "/srv/files:/files"';
/** Options for other engines that can be ignored safely. */
const WITHOUT_EFFECT = ["rw", "z", "Z", "cached", "delegated", "consistent"];

/**
 * Parses an entry `name-or-path:/target[:ro]`: a plain name is a volume, a relative path is in the source, an absolute
 * one on the host; a target alone is an anonymous volume.
 */
export function volumeEntry(text: string): Notation<ServiceMount> {
  if (text.includes("\0")) return { wrong: "it contains a NUL character" };
  const [first = "", second, options, ...rest] = text.split(":");
  if (rest.length > 0) return { wrong: FORMS };
  const requested = (options ?? "").split(",").filter((option) => option !== "" && !WITHOUT_EFFECT.includes(option));
  if (requested.some((option) => option !== "ro"))
    return { wrong: "of the options after the target only ro and rw are supported" };
  const target = normalPath(second ?? first);
  if (!target?.startsWith("/")) return { wrong: `the target has to be an absolute path; ${FORMS}` };
  if (target === "/") return { wrong: "nothing can be mounted over the root of the container; name a folder in it" };
  return second === undefined
    ? { value: { kind: "volume", name: null, external: false, target, readOnly: false } }
    : mountOf(first, { target, readOnly: requested.length > 0 });
}

function mountOf(from: string, at: { readonly target: string; readonly readOnly: boolean }): Notation<ServiceMount> {
  if (from.startsWith("~"))
    return { wrong: "there is no home folder to start from; give an absolute path or one inside the project" };
  if (from.startsWith("/")) return { value: { kind: "host", path: normalPath(from) ?? from, ...at } };
  if (from.startsWith(".") || from.includes("/")) {
    const path = normalPath(from);
    return path === undefined
      ? { wrong: "this path leads out of the project; give one inside it, or an absolute one" }
      : { value: { kind: "source", path, ...at } };
  }
  return VOLUME_NAME.test(from)
    ? { value: { kind: "volume", name: from, external: false, ...at } }
    : { wrong: `a volume's name has letters, digits, _, . and -; ${FORMS}` };
}
