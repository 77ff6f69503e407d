import { describe, expect, test } from "bun:test";
import { SETTINGS } from "../../support/apps/app.ts";
import { commit, REPOSITORY } from "../../support/apps/engine_scene.ts";
import { shopScene, runningServices } from "../../support/apps/service_scene.ts";

const COMPOSE = "services:\n  web: { build: ./web, expose: ['8080'] }\n  db: { image: 'db:1' }\n";
const FILES = { "compose.yaml": COMPOSE, "web/Dockerfile": "FROM scratch", "web/page": "one" };

describe("services of a compose file", () => {
  test.each([
    ["an unclosed quote", 'services:\n  web:\n    build: "./web\n    expose: ["80"]\n', 3, "a character is missing"],
    ["a missing colon", "services:\n  web\n    build: ./web\n", 2, "look for a missing colon"],
    ["a line too far right", "services:\n  web:\n   build: ./web\n    expose: ['8080']\n", 3, "indented too much"],
    ["a tab", "services:\n\tweb: { build: ./web }\n", 2, "there is a tab where only spaces are allowed"],
    ["a merge conflict", "services:\n<<<<<<< HEAD\n  web:\n=======\n  api:\n>>>>>>> b\n", 2, "merge conflict"],
    ["a wrong key", "service:\n  web: { build: ./web }\n", 1, 'Did you mean "services"'],
    ["nothing in it", "", 1, "it has no keys such as services"],
  ] as const)(
    "a compose file with %s fails the deployment with file and line, and the live release keeps serving",
    async (_, text, line, why) => {
      await using scene = await shopScene();
      scene.known.git[REPOSITORY] = { commits: [commit("a1", FILES)] };
      const project = await scene.project();
      const first = await scene.deployed(project);
      scene.known.git[REPOSITORY] = { commits: [commit("a2", { ...FILES, "compose.yaml": text })] };
      const broken = await scene.deployed(project);
      expect([broken.status, broken.error?.code]).toEqual(["failed", "compose_invalid"]);
      expect(broken.error?.message).toContain(`compose.yaml:${line}: `);
      expect(broken.error?.message).toContain(why);
      expect(await scene.world.liveReleases.find(project.id)).toMatchObject({ deployment: { id: first.id } });
      expect(Object.keys(await runningServices(scene, project)).toSorted()).toEqual(["db", "web"]);
    },
  );

  test("do not become another kind when the compose file is gone, unless the project type is set", async () => {
    await using scene = await shopScene();
    scene.known.git[REPOSITORY] = { commits: [commit("a1", FILES)] };
    const project = await scene.project();
    await scene.deployed(project);
    const site = { "index.html": "<h1>hello</h1>" };
    scene.known.git[REPOSITORY] = { commits: [commit("a2", site)] };
    const refused = await scene.deployed(project);
    expect([refused.status, refused.error?.code]).toEqual(["failed", "kind_changed"]);
    expect(refused.error?.message).toBe(
      "Cannot deploy this: the project is live as web, db, and its source would now be a static site. " +
        'Bring its compose file back, or set projectType to "static" if that is intended',
    );
    await scene.useCases.changeProject(scene.by, project.id, { settings: { projectType: "static" } });
    const meant = await scene.deployed(project);
    expect([meant.status, meant.error]).toEqual(["ready", null]);
    expect(await scene.log(meant.id)).toContain("The project was several services so far, and is a static site now");
  });

  test("never lose the last address of a project, unless that is requested", async () => {
    await using scene = await shopScene();
    scene.known.git[REPOSITORY] = { commits: [commit("a1", FILES)] };
    const project = await scene.project();
    const first = await scene.deployed(project);
    const compose = "services: { worker: { image: 'db:1' } }";
    scene.known.git[REPOSITORY] = { commits: [commit("a2", { "compose.yaml": compose })] };
    const refused = await scene.deployed(project);
    expect([refused.status, refused.error?.code]).toEqual(["failed", "last_address"]);
    expect(refused.error?.message).toContain("the project would lose its address");
    expect(await scene.world.liveReleases.find(project.id)).toMatchObject({ deployment: { id: first.id } });
    const meant = await scene.deployed(project, { publicEndpoints: [] });
    expect([meant.status, meant.error]).toEqual(["ready", null]);
    expect(await scene.log(meant.id)).toContainEqual(expect.stringContaining("No service of this is public"));
  });

  test("cause a warning before the deployment when none of them is public", async () => {
    await using scene = await shopScene();
    const compose = "services: { worker: { image: 'db:1' } }";
    scene.known.git[`${SETTINGS.githostUrl}/acme/shop.git`] = { commits: [commit("a1", { "compose.yaml": compose })] };
    const request = { source: "githost", owner: "acme", repo: "shop" } as const;
    const { warnings } = await scene.useCases.prepareSource(scene.by, request, new AbortController().signal);
    expect(warnings).toContain(
      "No service of this is public, so it has no address. Give a service ports or expose, or name it in publicEndpoints",
    );
  });
});
