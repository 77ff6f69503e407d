/**
 * The operator's replacements for the base images of generated Dockerfiles; names are in full, including a default
 * `docker.io/library/`.
 */
export type BaseImages = readonly BaseImageEntry[];

/** One entry of the map: an image with or without a tag, a prefix that ends in `/`, or all of Docker Hub. */
export interface BaseImageEntry {
  readonly from: string;
  /** A prefix if it ends in `/`, else an image; without a tag it keeps the original tag. */
  readonly to: string;
}

const HUB = "docker.io/";
/** Matches all images of Docker Hub. */
const ALL = "*";
const PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const HOST = "(?:localhost|[A-Za-z0-9-]+(?:\\.[A-Za-z0-9-]+)+|[A-Za-z0-9.-]+(?=:))(?::\\d{1,5})?";
const SUFFIX = "(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?";
const PATH = `${PART}(?:/${PART})*`;
const IMAGE = new RegExp(`^(?:${HOST}/)?${PATH}${SUFFIX}$`);
const PREFIX = new RegExp(`^(?:${HOST}/(?:${PATH}/)?|${PATH}/)$`);

/** Returns whether a string is a valid image name, as in `FROM`. */
export function isImageName(text: string): boolean {
  return text.length <= 500 && IMAGE.test(text);
}

/** Parses an entry such as `node=mirror.example.com/node`; `undefined` if it is invalid. */
export function baseImageEntry(text: string): BaseImageEntry | undefined {
  const [from = "", to = "", more] = text.split("=");
  const toPrefix = to.length <= 500 && PREFIX.test(to);
  if (more !== undefined || !(toPrefix || isImageName(to))) return undefined;
  if (from === ALL) return { from: HUB, to };
  if (from.length <= 500 && PREFIX.test(from)) return toPrefix ? { from: fullName(from), to } : undefined;
  return isImageName(from) && !toPrefix ? { from: fullName(from), to } : undefined;
}

/** Returns the image to use instead of the given one; the most specific entry wins. */
export function mappedImage(map: BaseImages, image: string): string {
  const full = fullName(image);
  const [best] = map.filter(({ from }) => fits(from, full)).toSorted((a, b) => b.from.length - a.from.length);
  if (best === undefined) return image;
  if (best.to.endsWith("/")) return best.to + full.slice(best.from.length);
  return suffixOf(best.to) === "" ? best.to + suffixOf(full) : best.to;
}

function fits(from: string, full: string): boolean {
  return from.endsWith("/") ? full.startsWith(from) : full === from || withoutSuffix(full) === from;
}

/** Returns a name with its registry, so that each image has only one name. */
function fullName(name: string): string {
  const first = name.slice(0, name.indexOf("/") + 1);
  if (first === "docker.io/" || first === "index.docker.io/") {
    const rest = name.slice(first.length);
    return HUB + (rest === "" || rest.includes("/") ? rest : `library/${rest}`);
  }
  if (/[.:]/.test(first) || first === "localhost/") return name;
  return HUB + (first === "" ? `library/${name}` : name);
}

/** Returns the tag and digest of an image, including `:` and `@`. */
function suffixOf(name: string): string {
  return /(?::[^:/@]+)?(?:@.+)?$/.exec(name)![0];
}

function withoutSuffix(name: string): string {
  return name.slice(0, name.length - suffixOf(name).length);
}
