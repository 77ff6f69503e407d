import { type JsonObject, memberOf, objectOf, textOf } from "../../text/json_text.ts";
import { asFiles, configCode, type Refined } from "./framework.ts";
import { type NodePackage, scriptText } from "./package.ts";
import { isPlainPath, plainPath } from "../../plain_names.ts";
import { codeOf, pathIn, settingIn } from "../../text/script_text.ts";

/** Vite, with the output folder of its script or configuration. */
export function vite({ folder, manifest }: NodePackage): Refined {
  const said = /--outDir[ =]([\w./-]{1,100})/.exec(scriptText(manifest, "build") ?? "")?.[1];
  const output = plainPath(said) ?? pathIn(configCode(folder, "vite"), "outDir");
  return output === undefined ? {} : { outputDirectory: output };
}

/** Returns whether Vite builds a library. */
export function isViteLibrary({ folder }: NodePackage): boolean {
  return /\blib\s*:\s*\{/.test(configCode(folder, "vite"));
}

/** VitePress and VuePress, whose pages and output are in a folder that a script names. */
export function pages(program: "vitepress" | "vuepress") {
  return ({ folder, manifest, manager }: NodePackage): Refined => {
    const scripts = Object.keys(memberOf(manifest, "scripts") ?? {}).slice(0, 200);
    const calls = new RegExp(`(?:^|[\\s&])${program} build(?:\\s+([\\w./-]{1,100}))?`);
    const name = scripts.find((script) => /^[\w:.-]+$/.test(script) && calls.test(scriptText(manifest, script) ?? ""));
    const said = name === undefined ? undefined : calls.exec(scriptText(manifest, name) ?? "")?.[1];
    const place = plainPath(said) ?? (folder.hasFolder(`docs/.${program}`) ? "docs" : undefined);
    const build = `${manager.exec} ${program} build${place === undefined ? "" : ` ${place}`}`;
    return {
      ...asFiles(`${place === undefined ? "" : `${place}/`}.${program}/dist`),
      buildCommand: name === undefined ? build : `${manager.run} ${name}`,
    };
  };
}

/** Eleventy, with the output folder of its script or configuration. */
export function eleventy({ folder, manifest }: NodePackage): Refined {
  const said = /--output[ =]([\w./-]{1,100})/.exec(scriptText(manifest, "build") ?? "")?.[1];
  const code = configCode(folder, "eleventy") + codeOf(folder.text(".eleventy.js") ?? "");
  return { outputDirectory: plainPath(said) ?? pathIn(code, "output") ?? "_site" };
}

/** Angular, by the first application of its workspace: files, or the server that renders them. */
export function angular({ folder, manager }: NodePackage): Refined {
  const projects = memberOf(objectOf(folder.data("angular.json")), "projects") ?? {};
  const applications = Object.entries(projects).filter(
    ([, project]) => textOf(objectOf(project), "projectType") !== "library",
  );
  const [name, written] = applications[0] ?? [];
  if (name === undefined || !isPlainPath(name)) return {};
  const build = target(objectOf(written), "build");
  const options = memberOf(build, "options");
  const path = memberOf(options, "outputPath");
  const base = plainPath(textOf(options, "outputPath") ?? textOf(path, "base")) ?? `dist/${name}`;
  // Before Angular 17, the builder writes the pages directly into the output folder.
  if (textOf(build, "builder")?.endsWith(":browser")) return asFiles(base);
  const browser = typeof path?.["browser"] === "string" ? (plainPath(path["browser"]) ?? "") : "browser";
  const files = browser === "" ? base : `${base}/${browser}`;
  const renders = options !== undefined && (Boolean(options["ssr"]) || textOf(options, "outputMode") === "server");
  if (!renders || textOf(options, "outputMode") === "static") return asFiles(files);
  // It refuses host names that are not allowed; here the edge forwards only those of the project.
  const allowed = memberOf(options, "security") === undefined ? 'NG_ALLOWED_HOSTS="${NG_ALLOWED_HOSTS:-*}" ' : "";
  const serve = `${allowed}${manager.node} ${base}/server/server.mjs`;
  return { projectType: "app", outputDirectory: base, serve, port: 4000 };
}

function target(project: JsonObject | undefined, name: string): JsonObject | undefined {
  return memberOf(memberOf(project, "architect") ?? memberOf(project, "targets"), name);
}

/** Parcel, with the output folder of its script. */
export function parcel({ manifest }: NodePackage): Refined {
  const said = /--dist-dir[ =]([\w./-]{1,100})/.exec(scriptText(manifest, "build") ?? "")?.[1];
  return { outputDirectory: plainPath(said) ?? "dist" };
}

/** SolidStart, which may prerender all pages in its build. */
export function solidStart({ folder }: NodePackage): Refined {
  const preset = settingIn(configCode(folder, "app") + configCode(folder, "vite"), "preset");
  return preset === "static" ? asFiles(".output/public") : {};
}
