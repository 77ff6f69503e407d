import { away } from "../engine/engine_api.ts";

/** A progress message of a build or pull. */
export interface BuildMessage {
  readonly stream?: string;
  readonly status?: string;
  readonly id?: string;
  readonly aux?: unknown;
  readonly error?: string;
  readonly errorDetail?: { readonly message?: string };
  readonly progressDetail?: { readonly current?: number; readonly total?: number };
}

const MAX_MESSAGE_CHARACTERS = 64 * 1_024 * 1_024;

/**
 * Parses the messages of a response, one per line; rejects with an `engine_away` failure when it breaks off or is
 * malformed.
 */
export async function* buildMessages(answer: Response): AsyncGenerator<BuildMessage> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of pieces(answer)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    if (rest.length > MAX_MESSAGE_CHARACTERS) throw away("its response is invalid");
    for (const line of lines) if (line.trim() !== "") yield message(line);
  }
  if (rest.trim() !== "") yield message(rest);
}

async function* pieces(answer: Response): AsyncGenerator<Uint8Array> {
  try {
    if (answer.body) yield* answer.body;
  } catch (cause) {
    throw away("its response ended early", cause);
  }
}

function message(line: string): BuildMessage {
  try {
    return JSON.parse(line) as BuildMessage;
  } catch (cause) {
    throw away("its response is invalid", cause);
  }
}
