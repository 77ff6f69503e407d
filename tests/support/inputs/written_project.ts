const HEADER = /^-- (\S.*?)( base64)? --$/;

/** Parses files out of one text, each after a line `-- path --` or `-- path base64 --`. */
export function writtenProject(text: string): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, { readonly base64: boolean; readonly lines: string[] }>();
  let current: string[] = [];
  for (const line of text.replace(/\n$/, "").split("\n")) {
    const [header, path, base64] = HEADER.exec(line) ?? [];
    if (header === undefined) current.push(line);
    else {
      if (files.has(path!)) throw new Error(`Cannot write ${path} twice`);
      current = [];
      files.set(path!, { base64: base64 !== undefined, lines: current });
    }
  }
  return new Map([...files].map(([path, file]) => [path, bytesOf(file)]));
}

function bytesOf({ base64, lines }: { readonly base64: boolean; readonly lines: readonly string[] }): Uint8Array {
  if (base64) return Uint8Array.from(Buffer.from(lines.join(""), "base64"));
  return new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
}
