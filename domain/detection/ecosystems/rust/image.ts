import { type ImageRecipe, recipe } from "../../image_recipe.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { runTimeFiles } from "../../run_time_files.ts";
import { workspaceMembers } from "./package.ts";

/**
 * Crates with the system libraries or tools that they need, without the build packages that the Rust image already has.
 */
const NATIVE: readonly {
  readonly crate: string;
  readonly build?: readonly string[];
  readonly run?: readonly string[];
}[] = [
  { crate: "openssl-sys", run: ["libssl3"] },
  { crate: "pq-sys", run: ["libpq5"] },
  { crate: "mysqlclient-sys", run: ["libmariadb3"] },
  { crate: "libsqlite3-sys", run: ["libsqlite3-0"] },
  { crate: "prost-build", build: ["protobuf-compiler"] },
  { crate: "rdkafka-sys", build: ["cmake"] },
  { crate: "aws-lc-sys", build: ["cmake"] },
  { crate: "bindgen", build: ["libclang-dev"] },
];

/** The first minor version with images on Debian bookworm. */
const FIRST_ON_BOOKWORM = 70;

/** Input of `rustImage`. */
export interface RustBuild {
  /** The folder of Cargo.lock: the workspace, or the package itself. */
  readonly root: ProjectFolder;
  readonly program: string;
  /** The path of its package in the folder, `""` for the folder itself. */
  readonly path: string;
  /** The version of the toolchain in the image. */
  readonly version: string;
}

/** Creates an image recipe for Rust: compiled in an image with the toolchain, run in a plain Debian. */
export function rustImage(folder: ProjectFolder, { root, program, path, version }: RustBuild): ImageRecipe {
  const lock = root.text("Cargo.lock") ?? "";
  const native = NATIVE.filter(({ crate }) => lock.includes(`name = "${crate}"`));
  const wholeRepository = folder.path !== "" && root.path !== folder.path;
  const context = wholeRepository ? folder.outward().at(-1)! : folder;
  const inContext = (kept: string) => (wholeRepository ? `${folder.path}/${kept}` : kept);
  const suite = Number(version.split(".")[1]) < FIRST_ON_BOOKWORM ? "bullseye" : "bookworm";
  return recipe(`debian:${suite}-slim`, {
    buildImage: `rust:${version}-${suite}`,
    buildPackages: native.flatMap(({ build }) => build ?? []),
    runPackages: ["ca-certificates", ...native.flatMap(({ run }) => run ?? [])],
    manifests: manifestsOf(root, context),
    caches: ["/usr/local/cargo/registry", "/usr/local/cargo/git", "/var/cache/cargo-target"],
    environment: {
      CARGO_TARGET_DIR: "/var/cache/cargo-target",
      ...(root.hasFolder(".sqlx") && { SQLX_OFFLINE: "true" }),
    },
    keep: [`bin/${program}`, ...runTimeFiles(folder), ...besidePackage(folder, path)].map(inContext),
    wholeRepository,
  });
}

/** The files that a workspace member may read at run time from its own folder. */
function besidePackage(folder: ProjectFolder, path: string): string[] {
  return path === "" ? [] : runTimeFiles(folder.at(path)).map((name) => `${path}/${name}`);
}

/** The files that Cargo reads before it fetches: manifests, and the sources that define the targets of each package. */
function manifestsOf(root: ProjectFolder, context: ProjectFolder): string[] {
  const base = root.path === context.path ? "" : `${root.path}/`;
  const packages = ["", ...workspaceMembers(root).map((path) => `${path}/`)];
  const read = packages.flatMap((path) => [
    `${path}Cargo.toml`,
    `${path}src/main.rs`,
    `${path}src/lib.rs`,
    ...root
      .at(`${path}src/bin`)
      .files()
      .map((file) => `${path}src/bin/${file}`),
  ]);
  const own = ["Cargo.lock", "rust-toolchain.toml", "rust-toolchain", ".cargo/config.toml"];
  return [...own, ...read].map((path) => base + path).filter((path) => context.has(path));
}
