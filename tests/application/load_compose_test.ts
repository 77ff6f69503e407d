import { describe, expect, test } from "bun:test";
import { Secret } from "../../domain/secret.ts";
import { composeRefusal, loadedCompose } from "../support/inputs/loaded_compose.ts";

describe("loadCompose()", () => {
  test("names the first ten problems and counts the others", async () => {
    const keys = Array.from({ length: 13 }, (_, at) => `    wrong_${at}: 1\n`).join("");
    const failure = await composeRefusal({ "compose.yaml": `services:\n  web:\n    image: a\n${keys}` });
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
    const failure = await composeRefusal({ "compose.yaml": `include: [${many.join(", ")}]`, ...files });
    expect(failure.code).toBe("compose_invalid");
    expect(failure.message).toContain("more than 50 files");
  });

  test("refuses a project that looks for too many files", async () => {
    const many = Array.from({ length: 600 }, (_, at) => `{path: f${at}.env, required: false}`);
    const failure = await composeRefusal({
      "compose.yaml": `services: {a: {image: a, env_file: [${many.join(", ")}]}}`,
    });
    expect(failure.code).toBe("compose_invalid");
  });

  test("refuses a project of too many bytes", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 12 }, (_, at) => [`f${at}.env`, `A=${"x".repeat(500_000)}\n`]),
    );
    const failure = await composeRefusal({
      "compose.yaml": `services: {a: {image: a, env_file: [${Object.keys(files).join(", ")}]}}`,
      ...files,
    });
    expect(failure.message).toContain("bytes");
  });

  test.each([
    ["the compose file", "compose.yaml", {}],
    ["an override file", "compose.override.yaml", { "compose.yaml": "services: {a: {image: a}}" }],
    ["a file of variables", ".env", { "compose.yaml": "services: {a: {image: a}}" }],
  ])("refuses %s over the limit, with the limit", async (_, path, others) => {
    const filling = `# ${"x".repeat(1_000)}\n`.repeat(600);
    const failure = await composeRefusal({ ...others, [path]: filling });
    expect(failure).toMatchObject({ kind: "invalid", code: "compose_invalid" });
    expect(failure.message).toStartWith(`Cannot use ${path}: it is larger than the limit of 512 KiB. `);
  });

  test("refuses files that include each other in a cycle", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [
        `f${at}.yaml`,
        `include: [f${at + 1}.yaml]\nservices: {s${at}: {image: a}}`,
      ]),
    );
    const failure = await composeRefusal({ "compose.yaml": "include: [f0.yaml]", ...files });
    expect(failure.message).toContain("include each other");
  });

  test("reports a problem with a name as long as a file once, and briefly", async () => {
    const failure = await composeRefusal({
      "compose.yaml": "services: {a: {image: a, env_file: x.env}}",
      "x.env": `${"K".repeat(100_000)}="open`,
    });
    expect(failure.details).toHaveLength(1);
    expect(failure.message.length).toBeLessThan(2_000);
  });

  test("warns of unset variables in an env file, and shows no part of the value", async () => {
    const { warnings } = await loadedCompose({
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
    const { services } = await loadedCompose(files).done;
    expect(services[0]?.environment["A"]).toHaveLength(500_002);
  });

  test("requests no file outside of the source", async () => {
    const { requested, done } = loadedCompose({
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
    expect((await composeRefusal({}, { file: "../compose.yaml" })).code).toBe("compose_invalid");
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
      const failure = await composeRefusal({ "compose.yaml": text }, options);
      expect(`${key} ${failure.message} ${JSON.stringify(failure.details)}`).not.toContain("hush");
    }
  });

  test("passes variables only to services that reference them", async () => {
    const { services } = await loadedCompose(
      { "compose.yaml": "services: {a: {image: a}, b: {image: b, environment: [TOKEN]}}" },
      { variables: new Map([["TOKEN", new Secret("x")]]) },
    ).done;
    expect(services.map(({ environment }) => environment)).toEqual([{}, { TOKEN: "x" }]);
  });

  test("adds the variables of one service to what the file declares for it, and overrides that", async () => {
    const variables = new Map(
      Object.entries({ COLOR: "shared", "a/COLOR": "of a", "a/my.key": "odd", "a/NAMED": "named", "c/COLOR": "of c" }),
    );
    const text = [
      "services:",
      "  a: {image: 'a:${COLOR}', environment: [COLOR=declared, NAMED], labels: {x: '${COLOR}'}}",
      "  b: {image: b, env_file: .env}",
      "  c: {image: c}",
    ].join("\n");
    const secrets = new Map(Array.from(variables, ([key, value]) => [key, new Secret(value)]));
    const { services, warnings } = await loadedCompose({ "compose.yaml": text }, { variables: secrets }).done;
    expect(services.map(({ environment }) => environment)).toEqual([
      { COLOR: "of a", NAMED: "named", "my.key": "odd" },
      { COLOR: "shared" },
      { COLOR: "of c" },
    ]);
    expect(services[0]).toMatchObject({ from: { reference: "a:shared" }, container: { labels: { x: "shared" } } });
    expect(warnings).toEqual([]);
  });

  test("a variable of one service is neither interpolated nor a build argument nor a config", async () => {
    const variables = new Map([["a/TOKEN", new Secret("hush")]]);
    const text = [
      "services:",
      "  a:",
      "    build: {context: ., args: [TOKEN]}",
      "    command: 'echo ${TOKEN:-unset}'",
      "    labels: {x: '${a/TOKEN}'}",
    ];
    const failure = await composeRefusal({ "compose.yaml": text.join("\n") }, { variables });
    expect(failure.message).not.toContain("hush");
    const { services, warnings } = await loadedCompose({ "compose.yaml": text.slice(0, 4).join("\n") }, { variables })
      .done;
    expect(services[0]).toMatchObject({
      from: { args: {} },
      environment: { TOKEN: "hush" },
      container: { command: ["echo", "unset"] },
    });
    expect(warnings.join()).toContain('Left out "TOKEN" in "build.args" of a: it is not set');
  });
});
