/** Throws if a text contains one of these secrets in plain text, base64, hexadecimal or URL encoding. */
export function expectHidden(text: string, secrets: Readonly<Record<string, string>>): void {
  for (const [name, secret] of Object.entries(secrets)) {
    for (const form of forms(secret)) {
      const at = text.indexOf(form);
      if (at >= 0) throw new Error(`The ${name} is visible: ${text.slice(Math.max(0, at - 200), at + 200)}`);
    }
  }
}

function forms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  // Base64 has three alignments within a longer text; the first and last characters depend on the neighbouring bytes.
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .slice(shift + 1, -4),
  );
  const anyBase64 = shifted.flatMap((text) => [text, text.replaceAll("+", "-").replaceAll("/", "_")]);
  return [secret, encodeURIComponent(secret), bytes.toString("hex"), ...anyBase64];
}
