/**
 * Modules that are loaded by name at run time, such as entry points of threads. In a checkout they
 * are TypeScript files next to the importing file. In the installed package they are JavaScript
 * files in dist/, the parent of this file's folder (package/build.ts).
 */
const isSource = import.meta.url.endsWith('.ts')

/**
 * Folder of built modules; undefined: use the sources. `npm test` sets the variable, because it
 * starts thousands of threads and built modules load faster.
 */
const builtFolder = isSource
  ? process.env['STELA_TEST_BUILT']
  : new URL('../', import.meta.url).href

/** URL of the module `name`. `askedBy` is the `import.meta.url` of the importing module. */
export function siblingModule(name: string, askedBy: string): URL {
  return builtFolder === undefined
    ? new URL(`${name}.ts`, askedBy)
    : new URL(`${name}.js`, builtFolder)
}
