import { describe, expect, test } from "bun:test";
import { imageReference } from "../../domain/image/image_reference.ts";

const DIGEST = `sha256:${"0123456789abcdef".repeat(4)}`;

describe("imageReference()", () => {
  test.each([
    ["postgres", "docker.io", "postgres", "postgres:latest"],
    ["postgres:16", "docker.io", "postgres", "postgres:16"],
    ["library/postgres:16", "docker.io", "postgres", "postgres:16"],
    ["docker.io/library/postgres", "docker.io", "postgres", "postgres:latest"],
    ["index.docker.io/shop/web:1.0", "docker.io", "shop/web", "shop/web:1.0"],
    ["shop/web", "docker.io", "shop/web", "shop/web:latest"],
    ["localhost/web", "localhost", "localhost/web", "localhost/web:latest"],
    ["localhost:5000/web:a", "localhost:5000", "localhost:5000/web", "localhost:5000/web:a"],
    [
      "registry.example.com/a/b/c",
      "registry.example.com",
      "registry.example.com/a/b/c",
      "registry.example.com/a/b/c:latest",
    ],
    [`postgres@${DIGEST}`, "docker.io", "postgres", `postgres@${DIGEST}`],
    [`postgres:16@${DIGEST}`, "docker.io", "postgres", `postgres@${DIGEST}`],
    [`127.0.0.1:5000/a@${DIGEST}`, "127.0.0.1:5000", "127.0.0.1:5000/a", `127.0.0.1:5000/a@${DIGEST}`],
  ])("reads %s", (text, registry, name, full) => {
    expect(imageReference(text)).toMatchObject({ registry, name, full });
  });

  test("accepts a whole image id, and nothing that an engine would read as a part of one", () => {
    expect(imageReference(DIGEST)).toEqual({ registry: null, name: "", tag: null, digest: DIGEST, full: DIGEST });
    for (const text of ["sha256:0123", "sha256", `docker.io/library/sha256:12`, "0123456789abcdef".repeat(4)]) {
      expect([text, imageReference(text)]).toEqual([text, undefined]);
    }
    expect(imageReference("0123456789ab")?.full).toBe("0123456789ab:latest");
  });
});
