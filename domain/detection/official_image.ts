/** How the tags of an official image are made. */
export interface OfficialImage {
  readonly name: string;
  /** The first versions with images on the Debian that others are made for, one for each line until all have them. */
  readonly firstOnBookworm: readonly string[];
}

/** The name of an official image for a version or line, on a Debian of our choice where there is one, else on that of its day. */
export function officialImage(
  { name, firstOnBookworm }: OfficialImage,
  version: string,
  kind?: string | undefined,
): string {
  const suite = firstOnBookworm.some((first, index) => covers(first, version, index === firstOnBookworm.length - 1));
  const words = [version, ...(kind === undefined ? [] : [kind]), ...(suite ? ["bookworm"] : [])];
  return `${name}:${words.join("-")}`;
}

/** Whether a version is at least `first`, in the same line or, with the last of them, in any later one. */
function covers(first: string, version: string, isLast: boolean): boolean {
  const [major = 0, minor = 0, patch = 0] = first.split(".").map(Number);
  const [ofMajor = 0, ofMinor = 0, ofPatch = Number.POSITIVE_INFINITY] = version.split(".").map(Number);
  if (ofMajor === major && ofMinor === minor) return ofPatch >= patch;
  return isLast && (ofMajor > major || (ofMajor === major && ofMinor > minor));
}
