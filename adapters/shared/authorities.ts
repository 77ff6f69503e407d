import { readFile } from "node:fs/promises";
import { Failure } from "../../domain/failure.ts";

/**
 * Returns the trusted CA certificates: the default ones plus those of the file, or `undefined` (the default) without a
 * file. Failures name the setting.
 */
export async function authoritiesOf(setting: string, file: string | undefined): Promise<readonly string[] | undefined> {
  if (file === undefined) return undefined;
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw unusable(setting, "it cannot be read", cause);
  });
  if (!/-----BEGIN CERTIFICATE-----/.test(text)) throw unusable(setting, "it contains no PEM certificate");
  const { rootCertificates } = await import("node:tls");
  return [...rootCertificates, text];
}

function unusable(setting: string, why: string, cause?: unknown): Failure {
  return new Failure("unavailable", "authorities_unusable", `Cannot use ${setting}: ${why}`, { cause });
}
