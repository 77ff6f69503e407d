import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Secret } from "../../domain/secret.ts";
import type { Edge, EdgeRoute } from "../../ports/domains/edge.ts";
import { testCertificate } from "../support/servers/test_certificate.ts";

/** An edge, and deployments that respond with their own id. */
export interface EdgeForContract extends AsyncDisposable {
  readonly edge: Edge;
  /** The route target of a deployment. */
  target(servedBy: string): EdgeRoute["target"];
  /** The deployment that responds to a request now, or the text that the edge responds with; `undefined` for neither. */
  ask(host: string, path: string): Promise<string | undefined>;
  /** The SHA-256 fingerprint of the certificate for a server name; `undefined` for the one of hosts without one. */
  presented(serverName: string): Promise<string | undefined>;
  /** Sends a request and resolves once a deployment handles it. The returned function completes the request. */
  begin(host: string, path: string): Promise<() => Promise<void>>;
}

/** Contract tests for `Edge` adapters. */
export function edgeContract(name: string, open: () => Promise<EdgeForContract>) {
  describe(`Edge contract: ${name}`, () => {
    let world: EdgeForContract;
    beforeEach(async () => {
      world = await open();
    });
    afterEach(() => world?.[Symbol.asyncDispose]());

    function route(servedBy: string, hostname: string, pathPrefix = "/"): EdgeRoute {
      return { hostname, pathPrefix, projectId: "prj_a", servedBy, target: world.target(servedBy) };
    }

    test("switch() routes a host to a deployment, in any case and with any port", async () => {
      await world.edge.switch("prj_a", [route("dep_1", "Shop.Example.test")]);
      for (const host of ["shop.example.test", "SHOP.example.TEST", "shop.example.test:8443", "shop.example.test."])
        expect(await world.ask(host, "/")).toBe("dep_1");
      for (const host of ["example.test", "a.shop.example.test", "shop.example.test.evil.test"])
        expect(await world.ask(host, "/")).toBeUndefined();
    });

    test("switch() prefers the longest prefix that ends at a segment boundary", async () => {
      await world.edge.switch("prj_a", [
        route("dep_1", "a.test"),
        route("dep_2", "a.test", "/api"),
        route("dep_3", "a.test", "/api/v2/"),
      ]);
      const expected = {
        "/": "dep_1",
        "/apiary": "dep_1",
        "/x/api": "dep_1",
        "/api": "dep_2",
        "/api?v2": "dep_2",
        "/api/": "dep_2",
        "/api/v20": "dep_2",
        "/api/v2": "dep_3",
        "/api/v2/x": "dep_3",
      };
      for (const [path, deployment] of Object.entries(expected))
        expect(await world.ask("a.test", path)).toBe(deployment);
    });

    test("switch() leaves paths outside of every prefix without a route", async () => {
      await world.edge.switch("prj_a", [route("dep_1", "a.test", "/only")]);
      expect(await world.ask("a.test", "/")).toBeUndefined();
      expect(await world.ask("a.test", "/only/this")).toBe("dep_1");
    });

    test("switch() replaces all routes of a project and none of another project", async () => {
      await world.edge.switch("prj_a", [route("dep_1", "a.test"), route("dep_1", "old.test")]);
      await world.edge.switch("prj_b", [route("dep_2", "b.test")]);
      await world.edge.switch("prj_a", [route("dep_3", "a.test"), route("dep_3", "new.test")]);
      expect(await world.ask("a.test", "/")).toBe("dep_3");
      expect(await world.ask("new.test", "/")).toBe("dep_3");
      expect(await world.ask("old.test", "/")).toBeUndefined();
      expect(await world.ask("b.test", "/")).toBe("dep_2");
      await world.edge.switch("prj_a", []);
      expect(await world.ask("a.test", "/")).toBeUndefined();
      expect(await world.ask("b.test", "/")).toBe("dep_2");
    });

    test("switch() keeps a host with the project that it moved to", async () => {
      await world.edge.switch("prj_a", [route("dep_1", "moved.test")]);
      await world.edge.switch("prj_b", [route("dep_2", "moved.test")]);
      expect(await world.ask("moved.test", "/")).toBe("dep_2");
      await world.edge.switch("prj_a", []);
      expect(await world.ask("moved.test", "/")).toBe("dep_2");
    });

    test("switch() does not keep the array it was given", async () => {
      const routes = [route("dep_1", "a.test")];
      await world.edge.switch("prj_a", routes);
      routes.pop();
      expect(await world.ask("a.test", "/")).toBe("dep_1");
      await world.edge.switch("prj_a", []);
      expect(await world.ask("a.test", "/")).toBeUndefined();
    });

    test("switch() lets the edge itself respond with a text, to one path of a host", async () => {
      const proof = {
        ...route("proof", "a.test", "/.well-known/proof/1"),
        target: { kind: "text", text: "yes" },
      } as const;
      await world.edge.switch("proof", [proof]);
      expect(await world.ask("a.test", "/.well-known/proof/1")).toBe("yes");
      expect(await world.ask("a.test", "/.well-known/proof/12")).toBeUndefined();
      await world.edge.switch("prj_a", [route("dep_1", "a.test")]);
      expect(await world.ask("a.test", "/.well-known/proof/1")).toBe("yes");
      expect(await world.ask("a.test", "/.well-known/proof/2")).toBe("dep_1");
      await world.edge.switch("proof", []);
      expect(await world.ask("a.test", "/.well-known/proof/1")).toBe("dep_1");
    });

    test("present() sets, replaces and removes the certificate of one host, in any case", async () => {
      const [first, second, other] = [testCertificate("a.test"), testCertificate("a.test"), testCertificate("b.test")];
      expect(await world.presented("a.test")).toBeUndefined();
      await world.edge.present("A.Test", first);
      await world.edge.present("b.test", other);
      for (const host of ["a.test", "A.TEST"]) expect(await world.presented(host)).toBe(first.fingerprint);
      expect(await world.presented("b.test")).toBe(other.fingerprint);
      for (const host of ["c.test", "sub.a.test", "test"]) expect(await world.presented(host)).toBeUndefined();
      await world.edge.present("a.test", second);
      expect(await world.presented("a.test")).toBe(second.fingerprint);
      await world.edge.present("a.test", null);
      await world.edge.present("unknown.test", null);
      expect(await world.presented("a.test")).toBeUndefined();
      expect(await world.presented("b.test")).toBe(other.fingerprint);
    });

    test("present() does not depend on routes, nor routes on certificates", async () => {
      const certificate = testCertificate("a.test");
      await world.edge.present("a.test", certificate);
      await world.edge.switch("prj_a", [route("dep_1", "a.test"), route("dep_1", "b.test")]);
      await world.edge.switch("prj_a", [route("dep_2", "b.test")]);
      expect(await world.presented("a.test")).toBe(certificate.fingerprint);
      await world.edge.present("b.test", null);
      expect(await world.ask("b.test", "/")).toBe("dep_2");
    });

    test("present() rejects an unusable certificate and keeps the former one", async () => {
      const [good, other] = [testCertificate("a.test"), testCertificate("a.test")];
      await world.edge.present("a.test", good);
      for (const bad of [
        { ...other, key: good.key },
        { ...other, key: new Secret("no key") },
        { ...other, chain: "no certificate" },
      ]) {
        const failure = await world.edge.present("a.test", bad).catch((error: unknown) => error);
        expect(failure).toMatchObject({ name: "Failure", kind: "invalid", code: "certificate_unusable" });
        expect(await world.presented("a.test")).toBe(good.fingerprint);
      }
      await world.edge.present("a.test", other);
      expect(await world.presented("a.test")).toBe(other.fingerprint);
    });

    test("drained() resolves immediately when no request is running", async () => {
      await world.edge.switch("prj_a", [route("dep_1", "a.test")]);
      await world.ask("a.test", "/");
      await world.edge.drained("dep_1", 60_000);
      await world.edge.drained("dep_unknown", 60_000);
    });

    test("drained() waits for the running requests of that deployment only", async () => {
      await world.edge.switch("prj_a", [route("dep_1", "a.test"), route("dep_2", "b.test")]);
      const ends = [await world.begin("a.test", "/"), await world.begin("a.test", "/")];
      let drained = false;
      const draining = world.edge.drained("dep_1", 60_000).then(() => (drained = true));
      await world.edge.drained("dep_2", 60_000);
      await ends[0]?.();
      await world.ask("b.test", "/");
      expect(drained).toBe(false);
      await ends[1]?.();
      await draining;
      expect(drained).toBe(true);
    });

    test("drained() stops waiting after its time limit", async () => {
      await world.edge.switch("prj_a", [route("dep_1", "a.test")]);
      const end = await world.begin("a.test", "/");
      await world.edge.drained("dep_1", 20);
      await end();
    });

    test("a request that runs during a switch finishes on the old deployment", async () => {
      await world.edge.switch("prj_a", [route("dep_1", "a.test")]);
      const end = await world.begin("a.test", "/");
      await world.edge.switch("prj_a", [route("dep_2", "a.test")]);
      expect(await world.ask("a.test", "/")).toBe("dep_2");
      await world.edge.drained("dep_2", 60_000);
      const draining = world.edge.drained("dep_1", 60_000);
      await end();
      await draining;
    });
  });
}
