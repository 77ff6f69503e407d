import { describe, expect, test } from "bun:test";
import { loadCompose, type LoadComposeOptions } from "../../application/deployments/sources/load_compose.ts";
import type { Failure } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import { patientYamlReader } from "../support/faults/patient_yaml_reader.ts";

function load(files: Readonly<Record<string, string>>, options: Partial<LoadComposeOptions> = {}) {
  const requested: string[] = [];
  const releaseFolders = {
    async *entries() {},
    read: async (_id: string, path: string) => {
      requested.push(path);
      return files[path] === undefined ? undefined : new TextEncoder().encode(files[path]);
    },
  };
  const run = loadCompose({ yamlReader: patientYamlReader(), releaseFolders });
  return { requested, done: run("one", { root: "", file: "compose.yaml", variables: new Map(), ...options }) };
}

function refusal(files: Readonly<Record<string, string>>, options: Partial<LoadComposeOptions> = {}): Promise<Failure> {
  return load(files, options).done.then(
    () => Promise.reject(new Error("It was read")),
    (error: Failure) => error,
  );
}

function repeated(word: string, count: number): string {
  return Array<string>(count).fill(word).join(", ");
}

function readers(file: string): string {
  const services = Array.from({ length: 100 }, (_, at) => `s${at}: {image: a, env_file: ${file}}`);
  return `services: {${services.join(", ")}}`;
}

describe("loadCompose()", () => {
  test("names the first ten problems and counts the others", async () => {
    const keys = Array.from({ length: 13 }, (_, at) => `    wrong_${at}: 1\n`).join("");
    const failure = await refusal({ "compose.yaml": `services:\n  web:\n    image: a\n${keys}` });
    expect(failure).toMatchObject({ kind: "invalid", code: "compose_invalid" });
    expect(failure.details).toHaveLength(10);
    expect(failure.details?.[0]).toEqual({
      path: "compose.yaml:4",
      message: expect.stringContaining('Cannot understand "wrong_0" of web'),
    });
    expect(failure.message).toEndWith("and 3 more");
  });

  test("refuses a project of too many files", async () => {
    const many = Array.from({ length: 60 }, (_, at) => `f${at}.yaml`);
    const files = Object.fromEntries(many.map((path, at) => [path, `services: {s${at}: {image: a}}`]));
    const failure = await refusal({ "compose.yaml": `include: [${many.join(", ")}]`, ...files });
    expect(failure.code).toBe("compose_invalid");
    expect(failure.message).toContain("more than 50 files");
  });

  test("refuses a project that looks for too many files", async () => {
    const many = Array.from({ length: 600 }, (_, at) => `{path: f${at}.env, required: false}`);
    const failure = await refusal({ "compose.yaml": `services: {a: {image: a, env_file: [${many.join(", ")}]}}` });
    expect(failure.code).toBe("compose_invalid");
  });

  const lines = Array.from({ length: 9_000 }, (_, at) => `K${at}=v`).join("\n");
  const words = `{services: {b: {image: b, command: [${repeated("a", 4_000)}]}}}`;
  const tiring: readonly (readonly [what: string, files: Readonly<Record<string, string>>])[] = [
    ["an env file of a hundred services", { "compose.yaml": readers("b.env"), "b.env": lines }],
    ["the .env file used by a hundred services", { "compose.yaml": readers(".env"), ".env": lines }],
    ["a file included a hundred times", { "compose.yaml": `include: [${repeated("b.yaml", 100)}]`, "b.yaml": words }],
    [
      "a file merged with itself a hundred times",
      { "compose.yaml": `include: [{path: [${repeated("b.yaml", 100)}]}]`, "b.yaml": words },
    ],
    [
      "a long chain of services that extend each other",
      {
        "compose.yaml": `services:\n  s0: {image: a, tmpfs: [/a]}\n${Array.from({ length: 1_000 }, (_, at) => `  s${at + 1}: {extends: s${at}, tmpfs: [/a]}\n`).join("")}`,
      },
    ],
    [
      "a thousand mistakes",
      {
        "compose.yaml": `services: {a: {image: a, volumes: [${Array.from({ length: 1_000 }, (_, at) => `"v${at}:/v"`).join(", ")}]}}`,
      },
    ],
  ];
  for (const [what, files] of tiring) {
    test(`gives up on ${what}`, async () => {
      const failure = await refusal(files);
      expect(failure.code).toBe("compose_invalid");
      expect(failure.details?.[0]?.message).toContain("it is too complex");
    });
  }

  test("refuses a project of too many bytes", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 12 }, (_, at) => [`f${at}.env`, `A=${"x".repeat(500_000)}\n`]),
    );
    const failure = await refusal({
      "compose.yaml": `services: {a: {image: a, env_file: [${Object.keys(files).join(", ")}]}}`,
      ...files,
    });
    expect(failure.message).toContain("bytes");
  });

  test("refuses files that include each other in a cycle", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [
        `f${at}.yaml`,
        `include: [f${at + 1}.yaml]\nservices: {s${at}: {image: a}}`,
      ]),
    );
    const failure = await refusal({ "compose.yaml": "include: [f0.yaml]", ...files });
    expect(failure.message).toContain("include each other");
  });

  test("refuses services that are huge when expanded", async () => {
    const aliases = Array.from({ length: 5_000 }, (_, at) => `K${at}: *big`).join(", ");
    const text = `x-big: &big "${"x".repeat(40_000)}"\nservices: {a: {image: a, environment: {${aliases}}}}`;
    expect((await refusal({ "compose.yaml": text })).message).toContain("written out");
    const variable = text.replace('"xxx', '"$A xxx');
    expect((await refusal({ "compose.yaml": variable })).message).toContain("too long");
  });

  test("reports a problem with a name as long as a file once, and briefly", async () => {
    const failure = await refusal({
      "compose.yaml": "services: {a: {image: a, env_file: x.env}}",
      "x.env": `${"K".repeat(100_000)}="open`,
    });
    expect(failure.details).toHaveLength(1);
    expect(failure.message.length).toBeLessThan(2_000);
  });

  test("warns of unset variables in an env file, and shows no part of the value", async () => {
    const { warnings } = await load({
      "compose.yaml": "services: {a: {image: a, env_file: x.env}}",
      "x.env": "FINE=a\nPASSWORD=pa$hush$word-$FINE\n",
    }).done;
    expect(warnings).toEqual([
      expect.stringContaining("x.env:2: The value of PASSWORD refers to a variable that is not set"),
    ]);
    expect(warnings.join()).not.toMatch(/hush|word-/);
  });

  test("reads a value of an env file that is mostly blank", async () => {
    const files = {
      "compose.yaml": "services: {a: {image: a, env_file: x.env}}",
      "x.env": `A=x${" ".repeat(500_000)}y`,
    };
    const { services } = await load(files).done;
    expect(services[0]?.environment["A"]).toHaveLength(500_002);
  });

  test("requests no file outside of the source", async () => {
    const { requested, done } = load({
      "compose.yaml": [
        "include: [../a.yaml, /etc/b.yaml, {path: c.yaml, env_file: ../../d.env, project_directory: ../..}]",
        "services:",
        "  web:",
        "    extends: {file: ../../e.yaml, service: x}",
        "    env_file: [../f.env, /etc/passwd, ~/g.env, 'a/../../h.env']",
        "    build: {context: ., dockerfile: ../Dockerfile}",
        "    configs: [k]",
        "configs: {k: {file: ../../../etc/shadow}}",
      ].join("\n"),
      "c.yaml": "services: {c: {image: a}}",
    });
    await done.catch(() => {});
    expect(requested).toContain("c.yaml");
    expect(
      requested.filter((path) => path.startsWith("/") || path.split("/").includes("..") || path.includes("~")),
    ).toEqual([]);
  });

  test("refuses a file that lies outside of the source", async () => {
    expect((await refusal({}, { file: "../compose.yaml" })).code).toBe("compose_invalid");
  });

  test("never shows the value of a variable in what it refuses", async () => {
    const places = [
      "image",
      "restart",
      "mem_limit",
      "user",
      "stop_grace_period",
      "hostname",
      "pull_policy",
      "network_mode",
      "cpus",
      "scale",
      "init",
      "platform",
      "shm_size",
    ];
    const listed = [
      "ports",
      "volumes",
      "expose",
      "env_file",
      "depends_on",
      "links",
      "networks",
      "configs",
      "secrets",
      "cap_add",
      "security_opt",
      "extra_hosts",
      "tmpfs",
      "environment",
    ];
    const options = { variables: new Map([["TOKEN", new Secret("~hush: hush/..")]]) };
    for (const key of [...places, ...listed]) {
      const value = listed.includes(key) ? '["${TOKEN}"]' : '"${TOKEN}"';
      const text = `services:\n  web:\n    build: .\n    privileged: true\n    ${key}: ${value}\n`;
      const failure = await refusal({ "compose.yaml": text }, options);
      expect(`${key} ${failure.message} ${JSON.stringify(failure.details)}`).not.toContain("hush");
    }
  });

  test("passes variables only to services that reference them", async () => {
    const { services } = await load(
      { "compose.yaml": "services: {a: {image: a}, b: {image: b, environment: [TOKEN]}}" },
      { variables: new Map([["TOKEN", new Secret("x")]]) },
    ).done;
    expect(services.map(({ environment }) => environment)).toEqual([{}, { TOKEN: "x" }]);
  });
});
