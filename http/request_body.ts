import type { TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { Failure, invalid } from "../domain/failure.ts";
import type { Operation } from "./operation.ts";
import { wrongInput } from "./problems.ts";
import { strictJson } from "./strict_json.ts";

export const BODY_BYTES = 1_048_576;

interface KeptBody {
  readonly value: object;
  readonly schema: TSchema | undefined;
  readonly precheck: Operation["precheck"];
}

const bodies = new WeakMap<Request, KeptBody>();
const checks = new WeakMap<TSchema, TypeCheck<TSchema>>();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Passes a parsed body on to the route of its request, with the checks it must pass. */
export function keepBody(request: Request, body: KeptBody): void {
  bodies.set(request, body);
}

/** Returns the parsed body of a request, or `{}` where there was none. */
export function keptBody(request: Request): object {
  return bodies.get(request)?.value ?? {};
}

/** Validates a body against its schema, before Elysia does: Elysia's own refusal fails on fields such as `toString`. */
export function checkBody(request: Request): void {
  const { value, schema, precheck } = bodies.get(request) ?? {};
  precheck?.({ ...value });
  if (!schema) return;
  const check = checks.get(schema) ?? TypeCompiler.Compile(schema);
  checks.set(schema, check);
  if (!check.Check(value)) throw wrongInput("body", check.Errors(value));
}

/** The bytes and the value of a JSON body. An empty body counts as `{}`. */
export interface JsonBody {
  readonly bytes: Uint8Array;
  readonly value: object;
}

/** Reads and parses a JSON body of bounded size, or refuses it. */
export async function readJson(request: Request): Promise<JsonBody> {
  const bytes = await readBytes(request);
  if (bytes.length === 0) return { bytes, value: {} };
  const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  if (type !== "application/json" && !/^application\/[\w.-]+\+json$/.test(type)) throw new NotJson();
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (cause) {
    throw invalid("unreadable_body", "Cannot read the body: it is not UTF-8 text", { cause });
  }
  const value = strictJson(text);
  // Every route takes an object, and Elysia would convert anything to one where a field has a default.
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid("unreadable_body", "Cannot read the body: send a JSON object");
  }
  return { bytes, value };
}

/** Thrown for a body of another media type, which has its own status. */
export class NotJson extends Error {
  override readonly name = "NotJson";
}

async function readBytes(request: Request): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array();
  if (Number(request.headers.get("content-length") ?? 0) > BODY_BYTES) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body) {
      size += chunk.length;
      if (size > BODY_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw invalid("unreadable_body", "Cannot read the body: it ended early", { cause });
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}

function tooLarge(): Failure {
  return new Failure("too_large", "body_too_large", `Cannot accept a body of more than ${BODY_BYTES} bytes`);
}
