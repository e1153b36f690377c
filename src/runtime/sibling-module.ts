/**
 * Modules that are loaded by name at run time, such as entry points of threads. In a checkout they
 * are TypeScript files beside the importing file. The installed package has them as JavaScript in
 * one folder, the parent of this file's folder (package/build.ts).
 */
const isSource = import.meta.url.endsWith('.ts')

/**
 * Folder of built modules, if tests of a checkout use them: `npm test` starts thousands of threads.
 */
const builtFolder = isSource
  ? process.env['STELA_TEST_BUILT']
  : new URL('../', import.meta.url).href

/** URL of the module `name` beside the importing module, whose `import.meta.url` is `askedBy`. */
export function siblingModule(name: string, askedBy: string): URL {
  return builtFolder === undefined
    ? new URL(`${name}.ts`, askedBy)
    : new URL(`${name}.js`, builtFolder)
}
