import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { didYouMean } from "./domain/did_you_mean.ts";
import { type BaseImages, baseImageEntry } from "./domain/image/base_images.ts";
import { isNetwork } from "./domain/network_address.ts";
import { Secret } from "./domain/secret.ts";

/** Environment variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** An invalid setting. The message is one line that names it. */
export class BadSetting extends Error {
  override readonly name = "BadSetting";
}

/** Reads settings from the environment. Throws `BadSetting` for one that is invalid. */
export class Settings {
  readonly #environment: Environment;

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** Returns the value of a setting. An empty one counts as unset. */
  #value(name: string): string | undefined {
    return this.#environment[name]?.trim() || undefined;
  }

  text(name: string, preset: string): string {
    const value = this.#value(name) ?? preset;
    if (value.includes("\0")) throw new BadSetting(`${name} must not contain a NUL character`);
    return value;
  }

  optionalText(name: string): string | undefined {
    const value = this.#value(name);
    return value === undefined ? undefined : this.text(name, value);
  }

  /** Returns the app of the git host. Its settings belong together. */
  gitHostApp(): { readonly id: number; readonly slug: string; readonly privateKey: Secret } | undefined {
    const id = this.number("GITHOST_APP_ID", 0, { min: 1, max: Number.MAX_SAFE_INTEGER });
    const slug = this.optionalText("GITHOST_APP_SLUG");
    const file = this.folder("GITHOST_APP_PRIVATE_KEY_FILE");
    const privateKey = this.secret("GITHOST_APP_PRIVATE_KEY") ?? (file === undefined ? undefined : keyIn(file));
    if (id === 0 && slug === undefined && privateKey === undefined) return undefined;
    if (id === 0 || slug === undefined || privateKey === undefined) {
      const missing = id === 0 ? "GITHOST_APP_ID" : slug === undefined ? "GITHOST_APP_SLUG" : "GITHOST_APP_PRIVATE_KEY";
      throw new BadSetting(`${missing} must be set too: an app has an id, a slug and a private key`);
    }
    // In an environment variable, line breaks are often written as \\n.
    const key = privateKey.reveal().replaceAll("\\n", "\n");
    if (!/^-----BEGIN (RSA )?PRIVATE KEY-----\n/.test(key))
      throw new BadSetting("GITHOST_APP_PRIVATE_KEY must be a private key in PEM format, as the git host made it");
    if (!/^[a-z0-9-]{1,100}$/i.test(slug))
      throw new BadSetting("GITHOST_APP_SLUG must be the app's name in its address");
    return { id, slug, privateKey: new Secret(key) };
  }

  secret(name: string): Secret | undefined {
    const value = this.#value(name);
    return value === undefined ? undefined : new Secret(value);
  }

  number(name: string, preset: number, { min, max }: { readonly min: number; readonly max: number }): number {
    const value = this.#value(name);
    if (value === undefined) return preset;
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) throw new BadSetting(`${name} must be a whole number from ${min} to ${max}`);
    return number;
  }

  decimal(name: string, preset: number, { min, max }: { readonly min: number; readonly max: number }): number {
    const value = this.#value(name);
    if (value === undefined) return preset;
    const number = /^\d+(\.\d{1,3})?$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min && number <= max)) throw new BadSetting(`${name} must be a number from ${min} to ${max}`);
    return number;
  }

  word<const T extends readonly [string, ...string[]]>(name: string, words: T): T[number] {
    return this.optionalWord(name, words) ?? words[0];
  }

  optionalWord<const T extends readonly string[]>(name: string, words: T): T[number] | undefined {
    const value = this.#value(name);
    if (value !== undefined && !words.includes(value)) {
      throw new BadSetting(`${name} must be one of ${[...new Set(words)].join(", ")}${didYouMean(value, words)}`);
    }
    return value;
  }

  url(name: string): string | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    // A path appended later would end up after a "?" or "#", and a password would become visible to everyone.
    const isPlain = URL.canParse(value) && /^https?:\/\/[^/?#@\\]+(?:\/[^?#]*)?$/i.test(value);
    if (!isPlain) {
      throw new BadSetting(
        `${name} must be an address such as https://slipway.example.com, without a user, a password, "?" or "#"`,
      );
    }
    return value.replace(/\/+$/, "");
  }

  /** Returns the directory of a certificate authority; `undefined` for "off". */
  directory(name: string, preset: string): string | undefined {
    const value = this.text(name, preset);
    if (value === "off") return undefined;
    if (!/^https:\/\/[^/?#@\\]+(?:\/[^?#]*)?$/i.test(value) || !URL.canParse(value))
      throw new BadSetting(`${name} must be an address such as ${preset}, or off`);
    return value;
  }

  email(name: string): string | undefined {
    const value = this.#value(name);
    if (value !== undefined && !/^[^\s@,?]+@[^\s@,?]+\.[^\s@,?]+$/.test(value))
      throw new BadSetting(`${name} must be an email address such as admin@example.com`);
    return value;
  }

  engine(name: string, preset: string): string {
    const value = this.text(name, preset);
    const isSocket = /^unix:\/\/\/./.test(value);
    if (!isSocket && !(/^(tcp|https?):\/\/[^/]/.test(value) && URL.canParse(value))) {
      throw new BadSetting(`${name} must be an address such as ${preset} or tcp://host:2375`);
    }
    return value;
  }

  /** Returns the address of Caddy's admin API, on this machine: static sites are proxied to a port of loopback. */
  caddyAdmin(name: string, preset: string): string {
    const value = this.text(name, preset).replace(/\/$/, "");
    const isLocal = /^http:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(value) && URL.canParse(value);
    if (!isLocal && !/^unix:\/[^/]/.test(value))
      throw new BadSetting(
        `${name} must be unix:/run/caddy/admin.sock or an address of this machine such as ${preset}`,
      );
    return value;
  }

  secretUrl(name: string, protocols: readonly string[]): Secret | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol) || !isDecodable(value)) {
      throw new BadSetting(`${name} must be an address such as ${protocols[0]}//user:password@host:5432/name`);
    }
    return new Secret(value);
  }

  adminToken(name: string): Secret | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (!/^[\x21-\x7e]{8,500}$/.test(value)) {
      throw new BadSetting(`${name} must be 8 to 500 visible ASCII characters; "slp_" and 43 random ones are best`);
    }
    return new Secret(value);
  }

  key(name: string): Secret | undefined {
    const value = this.#value(name);
    return value === undefined ? undefined : this.#key(name, value);
  }

  keys(name: string): readonly Secret[] {
    return (this.#value(name) ?? "")
      .split(",")
      .filter((part) => part.trim() !== "")
      .map((part) => this.#key(name, part.trim()));
  }

  #key(name: string, value: string): Secret {
    const bytes = /^[A-Za-z0-9+/]{43}=$/.test(value) ? Buffer.from(value, "base64").length : 0;
    if (bytes !== 32)
      throw new BadSetting(`${name} must be 32 bytes in base64; make one with: openssl rand -base64 32`);
    return new Secret(value);
  }

  hostname(name: string, preset: string): string {
    const value = (this.#value(name) ?? preset).toLowerCase();
    if (!/^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(value)) {
      throw new BadSetting(`${name} must be a host name such as apps.example.com`);
    }
    return value;
  }

  folder(name: string): string | undefined {
    const value = this.#value(name);
    if (value === undefined) return undefined;
    if (!value.startsWith("/") || value.includes("\0")) throw new BadSetting(`${name} must be an absolute path`);
    return resolve(value);
  }

  folders(name: string): readonly string[] {
    const folders = (this.#value(name) ?? "").split(":").filter((folder) => folder !== "");
    if (folders.some((folder) => !folder.startsWith("/")))
      throw new BadSetting(`${name} must be absolute folders, with : between them`);
    return folders;
  }

  baseImages(name: string): BaseImages {
    const texts = (this.#value(name) ?? "").split(/[\s,]+/).filter((text) => text !== "");
    return texts.map((text, index) => {
      const entry = baseImageEntry(text);
      if (entry !== undefined) return entry;
      throw new BadSetting(
        `${name} must be pairs such as node=mirror.example.com/node, oven/=mirror.example.com/oven/ or *=mirror.example.com/, with commas between them; number ${index + 1} is none`,
      );
    });
  }

  networks(name: string): readonly string[] {
    const networks = (this.#value(name) ?? "")
      .split(",")
      .map((network) => network.trim())
      .filter((network) => network !== "");
    if (!networks.every(isNetwork))
      throw new BadSetting(`${name} must be addresses or networks such as 10.0.0.0/8, with commas between them`);
    return networks;
  }
}

/** Reads a key from a file. */
function keyIn(file: string): Secret {
  try {
    return new Secret(readFileSync(file, "utf8").trim());
  } catch {
    throw new BadSetting("GITHOST_APP_PRIVATE_KEY_FILE must be a file that can be read");
  }
}

/** Returns whether an address is validly percent-encoded. */
function isDecodable(address: string): boolean {
  try {
    decodeURIComponent(address);
    return true;
  } catch {
    return false;
  }
}
