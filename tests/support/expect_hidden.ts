/** Fails when one of these secrets is to be seen in a text, be it as it is, in base64, in hexadecimal or in a URL. */
export function expectHidden(text: string, secrets: Readonly<Record<string, string>>): void {
  for (const [name, secret] of Object.entries(secrets)) {
    for (const form of forms(secret)) {
      const at = text.indexOf(form);
      if (at >= 0) throw new Error(`The ${name} can be seen: ${text.slice(Math.max(0, at - 200), at + 200)}`);
    }
  }
}

function forms(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  // Inside a longer text it can stand at three places; its first and last characters depend on its neighbours.
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .slice(shift + 1, -4),
  );
  const anyBase64 = shifted.flatMap((text) => [text, text.replaceAll("+", "-").replaceAll("/", "_")]);
  return [secret, encodeURIComponent(secret), bytes.toString("hex"), ...anyBase64];
}
