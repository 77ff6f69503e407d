import { describe, expect, test } from "bun:test";
import { composeGroups, dependenciesOf, isOneOff } from "../../../domain/migration/compose_group.ts";
import { found, foundIn } from "../../support/inputs/found.ts";

const FILES = "com.docker.compose.project.config_files";
const FOLDER = "com.docker.compose.project.working_dir";
const NUMBER = "com.docker.compose.container-number";
const VARIABLES = "com.docker.compose.project.environment_file";

/** The only group of containers of one project with these labels. */
function groupWith(labels: Record<string, string>) {
  const { groups } = composeGroups([foundIn("shop", "web", { labels })]);
  expect(groups).toHaveLength(1);
  return groups[0]!;
}

describe("composeGroups()", () => {
  test("divides containers by project and service, sorted by name", () => {
    const shop = [foundIn("shop", "web"), foundIn("shop", "db")];
    const blog = foundIn("blog", "web");
    const loose = found({ name: "loose" });
    const { groups, others } = composeGroups([shop[0]!, loose, blog, shop[1]!]);
    expect(groups.map(({ name, services }) => [name, [...services.keys()]])).toEqual([
      ["blog", ["web"]],
      ["shop", ["db", "web"]],
    ]);
    expect(others).toEqual([loose]);
    expect(groups[1]).toMatchObject({ workingDir: "/srv/shop", configFiles: ["/srv/shop/compose.yml"] });
  });

  test("orders scaled containers by their number", () => {
    const numbers = ["10", "2", "1"];
    const containers = numbers.map((number) =>
      foundIn("shop", "web", { name: `shop-web-${number}`, labels: { [NUMBER]: number } }),
    );
    const { groups } = composeGroups(containers);
    const names = groups[0]!.services.get("web")!.map(({ name }) => name);
    expect(names).toEqual(["shop-web-1", "shop-web-2", "shop-web-10"]);
  });

  test("orders containers without a number by their name", () => {
    const containers = ["b", "a"].map((name) => foundIn("shop", "web", { name, labels: { [NUMBER]: "many" } }));
    expect(
      composeGroups(containers)
        .groups[0]!.services.get("web")!
        .map(({ name }) => name),
    ).toEqual(["a", "b"]);
  });

  test("treats one-off containers, and those with half of the labels, as loose", () => {
    const task = foundIn("shop", "web", { labels: { "com.docker.compose.oneoff": "True" } });
    const nameless = foundIn("", "web");
    const serviceless = foundIn("shop", "");
    const { groups, others } = composeGroups([task, nameless, serviceless]);
    expect(groups).toEqual([]);
    expect(others).toEqual([task, nameless, serviceless]);
    expect([task, nameless].map(isOneOff)).toEqual([true, false]);
  });

  test.each([
    ["/srv/shop/a.yml,/srv/shop/b.yml", ["/srv/shop/a.yml", "/srv/shop/b.yml"]],
    ["compose.yml,../base/base.yml", ["/srv/shop/compose.yml", "/srv/base/base.yml"]],
    [" /srv/shop/a.yml , b.yml ", ["/srv/shop/a.yml", "/srv/shop/b.yml"]],
    ["/srv//shop/./a.yml", ["/srv/shop/a.yml"]],
    ["", []],
    [",,", []],
    ["/srv/\0/a.yml", []],
  ])("reads the label of files %j", (label, files) => {
    expect(groupWith({ [FILES]: label }).configFiles).toEqual(files);
  });

  test("does not guess where relative files are without a folder", () => {
    expect(groupWith({ [FILES]: "compose.yml,/srv/a.yml", [FOLDER]: "" })).toMatchObject({
      workingDir: null,
      configFiles: ["/srv/a.yml"],
    });
  });

  test("takes the files from a container that names them", () => {
    const { groups } = composeGroups([foundIn("shop", "a", { labels: { [FILES]: "" } }), foundIn("shop", "b")]);
    expect(groups[0]!.configFiles).toEqual(["/srv/shop/compose.yml"]);
  });

  test("reads which files with variables were named", () => {
    expect(groupWith({}).variableFiles).toBeNull();
    expect(groupWith({ [VARIABLES]: "prod.env,/etc/shop.env" }).variableFiles).toEqual([
      "/srv/shop/prod.env",
      "/etc/shop.env",
    ]);
  });
});

test.each([
  ["db:service_healthy:false,cache:service_started:true", ["db", "cache"]],
  ["db", ["db"]],
  ["", []],
  [" db : x , ,", ["db"]],
])("dependenciesOf() reads %j", (label, names) => {
  const container = foundIn("shop", "web", { labels: { "com.docker.compose.depends_on": label } });
  expect(dependenciesOf(container)).toEqual(names);
});
