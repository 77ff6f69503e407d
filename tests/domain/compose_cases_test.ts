import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { LibraryYamlReader } from "../../adapters/yaml/library_yaml_reader.ts";
import { loadCompose } from "../../application/deployments/load_compose.ts";
import { Failure } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import { PLAIN_CONTAINER, type ServiceSpec } from "../../domain/composition/service_spec.ts";
import { writtenProject } from "../support/written_project.ts";

const FOLDER = join(import.meta.dirname, "compose_cases");
const UPDATES = process.env["UPDATE_COMPOSE"] === "1";

interface Wish {
  readonly root?: string;
  readonly file?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

/** What the compose file of a case says, or what is wrong with it. */
async function said(files: ReadonlyMap<string, Uint8Array>, wish: Wish): Promise<object> {
  const releaseFolders = {
    async *entries() {},
    read: async (_id: string, path: string, { maxBytes }: { readonly maxBytes: number }) => {
      const bytes = files.get(path);
      return bytes && bytes.length <= maxBytes ? bytes : undefined;
    },
  };
  const variables = new Map(Object.entries(wish.variables ?? {}).map(([key, value]) => [key, new Secret(value)]));
  const load = loadCompose({ yamlReader: new LibraryYamlReader(), releaseFolders });
  try {
    const meant = { root: wish.root ?? "", file: wish.file ?? "compose.yaml", variables };
    const { services, warnings } = await load("one", meant);
    return { services: services.map(told), ...(warnings.length > 0 && { warnings }) };
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== "compose_invalid") throw error;
    return { problems: error.details?.map(({ path, message }) => `${path}: ${message}`) ?? [error.message] };
  }
}

/** Without what a plain container has too. */
function told({ container, environment, ports, dependsOn, oneShot, ...rest }: ServiceSpec): object {
  const { limits, ...own } = container;
  const inside = { ...different(own, PLAIN_CONTAINER), ...nested("limits", different(limits, PLAIN_CONTAINER.limits)) };
  return {
    ...rest,
    ...nested("environment", environment),
    ...nested("ports", ports),
    ...nested("dependsOn", dependsOn),
    ...(oneShot && { oneShot }),
    ...nested("container", inside),
  };
}

function different(one: object, usual: object): object {
  const plain = new Map<string, unknown>(Object.entries(usual));
  return Object.fromEntries(Object.entries(one).filter(([key, value]) => !Bun.deepEquals(value, plain.get(key))));
}

function nested(key: string, value: object): object {
  return Object.keys(value).length > 0 ? { [key]: value } : {};
}

const cases = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory());

describe("loadCompose() reads", () => {
  test("at least 60 projects", () => expect(cases.length).toBeGreaterThanOrEqual(60));

  for (const { name } of cases.toSorted((a, b) => a.name.localeCompare(b.name))) {
    test(name, async () => {
      const wish = Bun.file(join(FOLDER, name, "wish.json"));
      const files = writtenProject(await Bun.file(join(FOLDER, name, "project.txt")).text());
      const says = await said(files, (await wish.exists()) ? ((await wish.json()) as Wish) : {});
      const file = Bun.file(join(FOLDER, name, "expected.json"));
      if (UPDATES) await Bun.write(file, `${JSON.stringify(says, null, 2)}\n`);
      expect(says).toEqual(await file.json());
    });
  }
});

/** Values that stand where others are expected. */
const ODD_VALUES = ["[]", "{}", "null", "-1", "[[x]]", "{a: {b: c}}", '"${NOPE}"', "!reset null", "[{}]"];

describe("loadCompose() refuses with a sentence or reads, and nothing else,", () => {
  for (const { name } of cases) {
    test(`${name} with any value changed`, async () => {
      const lines = (await Bun.file(join(FOLDER, name, "project.txt")).text()).split("\n").slice(0, 40);
      for (const [at, line] of lines.entries()) {
        const odd = ODD_VALUES[at % ODD_VALUES.length]!;
        const changed = line.replace(/^(\s*(?:- )?[\w"]+:)(?: .*)?$/, (_, key: string) => `${key} ${odd}`);
        for (const text of [lines.toSpliced(at, 1), lines.with(at, changed)]) {
          const files = writtenProject(text.join("\n"));
          const answer = await said(files, { file: [...files.keys()][0] ?? "compose.yaml" });
          expect(Object.keys(answer).length).toBeGreaterThan(0);
        }
      }
    });
  }
});
