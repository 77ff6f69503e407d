export type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read">;

/** A server-sent event. */
export interface Framed {
  readonly id: number;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** Parses an event stream. Skips comments; throws on anything else that is not an event of three lines. */
export function framesOf(text: string): Framed[] {
  return text
    .split("\n\n")
    .filter((block) => block !== "" && !block.startsWith(":"))
    .map((block) => {
      const parts = /^id: (\d+)\nevent: (\w+)\ndata: (.*)$/.exec(block);
      if (!parts) throw new Error(`Not an event: ${block}`);
      return { id: Number(parts[1]), event: parts[2]!, data: JSON.parse(parts[3]!) };
    });
}

/** Reads an event stream until it contains a text. */
export async function readUntil(reader: Reader, wanted: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes(wanted)) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`The feed ended without "${wanted}": ${text}`);
    text += decoder.decode(value, { stream: true });
  }
  return text;
}

export async function readToEnd(reader: Reader): Promise<void> {
  while (!(await reader.read()).done);
}

/** Reads complete frames up to a limit or to the end. Skips comments. */
export async function readFrames(reader: Reader, limit: number): Promise<string[]> {
  const decoder = new TextDecoder();
  const seen: string[] = [];
  for (let text = ""; seen.length < limit;) {
    const { value, done } = await reader.read();
    if (done) break;
    const parts = (text + decoder.decode(value, { stream: true })).split("\n\n");
    text = parts.pop()!;
    seen.push(...parts.filter((part) => part.startsWith("id: ")));
  }
  return seen.slice(0, limit);
}
