import { cppPackages } from "./packages.ts";
import { type Ecosystem, type Finding, warned } from "../../ecosystem.ts";
import { recipe } from "../../image_recipe.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { matched, withoutComments } from "../../text/source_text.ts";

const PLAIN = /^[A-Za-z_][A-Za-z0-9_.-]{0,60}$/;
const TEST = /(?:^|[_-])(?:tests?|bench(?:mark)?s?|examples?)(?:$|[_-])/i;
const SOURCES = /\.(?:c|cc|cpp|cxx)$/;
const COMPILERS = ["g++", "gcc", "libc6-dev", "make", "pkg-config"];
const NO_START =
  "Cannot tell how to start the project: its build file makes no executable whose name is plain. Set the start command";
const MANAGED =
  "Cannot install the packages of vcpkg or Conan automatically: set the install command, or add a Dockerfile";

/** What the build file of one of the tools declares. */
interface CppBuild {
  readonly tool: "cmake" | "meson" | "make";
  readonly packages: readonly string[];
  readonly build: string;
  /** The path of the program; `undefined` when none is known. */
  readonly program: string | undefined;
  readonly libraries: readonly string[];
  /** The libraries that are optional, in lower case. */
  readonly optional?: readonly string[];
}

/** Programs in C and C++ that CMake, Meson or Make build. */
export const cpp: Ecosystem = {
  manifests: ["CMakeLists.txt", "meson.build", "Makefile", "makefile"],
  detect(folder) {
    const build = cmake(folder) ?? meson(folder) ?? make(folder);
    if (build === undefined) return undefined;
    const { build: needed, run, unknown } = cppPackages(build.libraries);
    const warnings = [
      ...unknown
        .filter((name) => !build.optional?.includes(name))
        .map((name) => `Cannot tell which package contains ${name}: install it in a Dockerfile if the build needs it`),
      ...(folder.first(["vcpkg.json", "conanfile.txt", "conanfile.py"]) === undefined ? [] : [MANAGED]),
    ];
    const found: Finding = { language: languageOf(folder), packageManager: build.tool, warnings };
    if (build.program === undefined) return warned(found, NO_START);
    const kept = ["public", "static", "www", "templates", "config"].filter((path) => folder.hasFolder(path));
    return {
      ...found,
      buildCommand: build.build,
      startCommand: `./${build.program}`,
      port: 8080,
      image: recipe("debian:bookworm-slim", {
        buildPackages: [...new Set([...COMPILERS, "ca-certificates", "git", ...build.packages, ...needed])].toSorted(),
        runPackages: [...new Set(["ca-certificates", "libstdc++6", ...run])].toSorted(),
        keep: [build.program, ...kept],
      }),
    };
  },
};

function cmake(folder: ProjectFolder): CppBuild | undefined {
  if (!folder.has("CMakeLists.txt")) return undefined;
  const places = [
    "",
    ...folder
      .folders()
      .filter((name) => !TEST.test(name))
      .map((name) => `${name}/`),
  ];
  const texts = places.map((place) => withoutComments(folder.text(`${place}CMakeLists.txt`) ?? "", "#"));
  const project = matched(texts[0] ?? "", /\bproject[ \t]*\([ \t\r\n]*([\w.-]{1,60})/i);
  const names = texts
    .flatMap((text) => [...text.matchAll(/\badd_executable[ \t]*\([ \t\r\n]*([\w.${}-]{1,80})/gi)])
    .map(([, name = ""]) => (/^\$\{(?:CMAKE_)?PROJECT_NAME\}$/.test(name) ? (project ?? "") : name));
  const packages = texts.flatMap((text) => [
    ...text.matchAll(/\bfind_package[ \t]*\([ \t]*([\w.+-]{1,50})([^)]{0,200})\)/gi),
  ]);
  // All programs go into one folder, unless the build file sets another.
  const set =
    /\bset[ \t]*\([ \t]*CMAKE_RUNTIME_OUTPUT_DIRECTORY[ \t]+"?\$\{(?:CMAKE|PROJECT)_(BINARY|SOURCE)_DIR\}\/?([\w/-]{0,60})"?[ \t]*\)/i.exec(
      texts[0] ?? "",
    );
  const output =
    set === null ? "build/bin" : [set[1] === "BINARY" ? "build" : "", set[2] ?? ""].filter(Boolean).join("/");
  const program = chosen(names);
  return {
    tool: "cmake",
    packages: ["cmake"],
    build: `cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$PWD/build/bin" && cmake --build build --target ${program} -j 4`,
    program: program && [...(output === "" ? [] : [output]), program].join("/"),
    libraries: packages.map(([, name = ""]) => name),
    optional: packages
      .filter(([, , rest = ""]) => !/\bREQUIRED\b/.test(rest))
      .map(([, name = ""]) => name.toLowerCase()),
  };
}

function meson(folder: ProjectFolder): CppBuild | undefined {
  if (!folder.has("meson.build")) return undefined;
  const places = [
    "",
    ...folder
      .folders()
      .filter((name) => PLAIN.test(name) && !TEST.test(name))
      .map((name) => `${name}/`),
  ];
  const found = places.map((place) => ({
    place,
    text: withoutComments(folder.text(`${place}meson.build`) ?? "", "#"),
  }));
  const executables = found.flatMap(({ place, text }) =>
    [...text.matchAll(/\bexecutable[ \t]*\([ \t\r\n]*'([\w.-]{1,60})'/g)].map(([, name = ""]) => ({ place, name })),
  );
  const name = chosen(executables.map((one) => one.name));
  const place = executables.find((one) => one.name === name)?.place ?? "";
  return {
    tool: "meson",
    packages: ["meson", "ninja-build"],
    build: `meson setup build --buildtype=release && meson compile -C build ${name}`,
    program: name && `build/${place}${name}`,
    libraries: found.flatMap(({ text }) =>
      [...text.matchAll(/\bdependency[ \t]*\([ \t\r\n]*'([\w.+-]{1,50})'/g)].map(([, library = ""]) => library),
    ),
  };
}

/** A Makefile counts only beside sources, as projects in every language use one for their tools. */
function make(folder: ProjectFolder): CppBuild | undefined {
  const file = folder.first(["Makefile", "makefile"]);
  if (file === undefined) return undefined;
  if (![...folder.names(), ...folder.at("src").names()].some((name) => SOURCES.test(name))) return undefined;
  const text = withoutComments(folder.text(file) ?? "", "#");
  const variable = matched(
    text,
    /^(?:TARGET|BIN|PROGRAM|EXE|EXECUTABLE|OUT|NAME|PROG)[ \t]*[:?]?=[ \t]*([\w./-]{1,80})[ \t\r]*$/m,
  );
  const written = [...text.matchAll(/[ \t]-o[ \t]([A-Za-z_.][\w./-]{0,60})(?=[ \t\r\n])/g)].map(([, path]) => path);
  const program = [variable, ...written]
    .map((path) => path?.replace(/^\.\//, "") ?? "")
    .find((path) => /^[A-Za-z_][\w-]*(?:\/[A-Za-z_][\w-]*){0,2}$/.test(path));
  return { tool: "make", packages: [], build: "make", program, libraries: [] };
}

function chosen(names: readonly string[]): string | undefined {
  const plain = names.filter((name) => PLAIN.test(name));
  return (
    plain.find((name) => !TEST.test(name) && /server|app|main/i.test(name)) ?? plain.find((name) => !TEST.test(name))
  );
}

function languageOf(folder: ProjectFolder): "c" | "cpp" {
  const names = [...folder.names(), ...folder.at("src").names()];
  return names.some((name) => name.endsWith(".c")) && !names.some((name) => /\.(?:cc|cpp|cxx)$/.test(name))
    ? "c"
    : "cpp";
}
