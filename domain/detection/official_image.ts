/** How the tags of an official image are composed. */
export interface OfficialImage {
  readonly name: string;
  /** The first versions with images on Debian bookworm, one per line; the last one covers all later lines. */
  readonly firstOnBookworm: readonly string[];
}

/**
 * The name of an official image for a version or line, on Debian bookworm if available, else on the default Debian of
 * its time.
 */
export function officialImage(
  { name, firstOnBookworm }: OfficialImage,
  version: string,
  kind?: string | undefined,
): string {
  const suite = firstOnBookworm.some((first, index) => covers(first, version, index === firstOnBookworm.length - 1));
  const words = [version, ...(kind === undefined ? [] : [kind]), ...(suite ? ["bookworm"] : [])];
  return `${name}:${words.join("-")}`;
}

/** Returns whether a version is at least `first` in the same line or, with `isLast`, in any later one. */
function covers(first: string, version: string, isLast: boolean): boolean {
  const [major = 0, minor = 0, patch = 0] = first.split(".").map(Number);
  const [ofMajor = 0, ofMinor = 0, ofPatch = Number.POSITIVE_INFINITY] = version.split(".").map(Number);
  if (ofMajor === major && ofMinor === minor) return ofPatch >= patch;
  return isLast && (ofMajor > major || (ofMajor === major && ofMinor > minor));
}
