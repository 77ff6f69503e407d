/** How the tags of an official image are made. */
export interface OfficialImage {
  readonly name: string;
  /** The first line with images on the Debian that others are made for: `3.8`. */
  readonly firstOnBookworm: string;
}

/**
 * The tag of an official image for a version, on a Debian of our choice where there is one: an exact version has only the image of its day, an old
 * line only that of its last day.
 */
export function officialImage({ name, firstOnBookworm }: OfficialImage, version: string, kind?: string): string {
  const [major = 0, minor = 0, patch] = version.split(".").map(Number);
  const [firstMajor = 0, firstMinor = 0] = firstOnBookworm.split(".").map(Number);
  const isOld = major < firstMajor || (major === firstMajor && minor < firstMinor);
  const suite = patch !== undefined || isOld ? [] : ["bookworm"];
  return `${name}:${[version, ...(kind === undefined ? [] : [kind]), ...suite].join("-")}`;
}
